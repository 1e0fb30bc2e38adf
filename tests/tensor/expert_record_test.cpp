// Properties of the record that an expert lies in.
#include "tensor/expert_record.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace ft {
namespace {

using Range = std::pair<uint64_t, uint64_t>;

std::vector<Range> ranges_of(const ExpertLayout& layout) {
  std::vector<uint8_t> record(layout.record_bytes());
  std::vector<Range> ranges = {{0, 3 * sizeof(float)}};
  for (const ExpertMatrix m : {ExpertMatrix::kGate, ExpertMatrix::kUp, ExpertMatrix::kDown}) {
    const WeightView w = layout.matrix(record.data(), m);
    const auto codes = static_cast<uint64_t>(w.codes - record.data());
    const auto scales = static_cast<uint64_t>(w.scales - record.data());
    ranges.emplace_back(codes, codes + static_cast<uint64_t>(w.rows * w.row_bytes));
    ranges.emplace_back(scales, scales + static_cast<uint64_t>(scale_rows_of(w.format, w.rows) *
                                                               w.scale_row_bytes));
    EXPECT_EQ(codes % 64, 0u);
    EXPECT_EQ(w.row_bytes % 16, 0);
    EXPECT_GE(w.row_bytes, row_bytes_of(w.format, w.cols));
    if (const float* bias = layout.bias(record.data(), m)) {
      const auto begin =
          static_cast<uint64_t>(reinterpret_cast<const uint8_t*>(bias) - record.data());
      ranges.emplace_back(begin, begin + sizeof(float) * static_cast<uint64_t>(w.rows));
    }
  }
  return ranges;
}

TEST(ExpertLayout, PartsLieApartWithinTheRecord) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const ExpertShape shape = {
        .format = static_cast<FormatId>(random() % std::tuple_size_v<Formats>),
        .d_model = static_cast<int64_t>(32 * (1 + random() % 20)),
        .d_expert = static_cast<int64_t>(32 * (1 + random() % 20)),
        .has_bias = random() % 2 == 0};
    const ExpertLayout layout(shape);
    std::vector<Range> ranges = ranges_of(layout);
    std::sort(ranges.begin(), ranges.end());
    uint64_t sum = 0;
    for (size_t i = 0; i < ranges.size(); ++i) {
      sum += ranges[i].second - ranges[i].first;
      EXPECT_LE(ranges[i].second,
                i + 1 < ranges.size() ? ranges[i + 1].first : layout.record_bytes());
    }
    EXPECT_EQ(layout.record_bytes() % 4096, 0u);
    EXPECT_LE(layout.read_bytes(), sum);
    EXPECT_LT(layout.record_bytes(), sum + 16 * 64 + 4096);
  }
}

TEST(ExpertLayout, Mxfp4OfGptOssHasThePublishedSize) {
  // 3 matrices of 2880 x 2880, half a byte a value, a scale for each 32, biases (bfloat16 in the
  // file, float32 here).
  const ExpertLayout layout(
      {.format = kIdOf<Mxfp4>, .d_model = 2880, .d_expert = 2880, .has_bias = true});
  EXPECT_EQ(layout.read_bytes(), 3u * 2880 * 2880 / 2 + 3u * 2880 * 2880 / 32 + 3u * 2880 * 4);
}

}  // namespace
}  // namespace ft
