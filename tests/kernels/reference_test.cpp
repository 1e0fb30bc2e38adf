// The scalar table's multiplications and attention against plain formulations in double precision.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/kernels/plain.h"
#include "tests/support/cpu_lane.h"

namespace ft::test {
namespace {

TEST(Reference, LinearIsTheProductOfWhatIsMeant) {
  Random random(1);
  for (const bool exact : {false, true}) {
    CpuLane c("scalar", exact);
    for (const FormatId format : all_formats()) {
      for (const int64_t wanted : {1, 50, 679}) {
        const int64_t cols = legal_cols(format, wanted);
        const RandomMatrix w(random, format, 151, cols);
        std::vector<float> x = random_floats(random, 3 * cols);
        const std::vector<float> bias = random_floats(random, 151);
        const std::vector<float> before = random_floats(random, 3 * 151);
        std::vector<float> y = before;
        c.ops().linear(c.lane, {.w = w.view,
                                .x = view_of(x, 3, cols),
                                .y = view_of(y, 3, 151),
                                .bias = bias.data(),
                                .accumulate = wanted == 50});
        for (size_t r = 0; r < 3; ++r) {
          const std::vector<double> seen =
              activations(format, exact, x.data() + static_cast<int64_t>(r) * cols, cols);
          for (size_t n = 0; n < 151; ++n) {
            Product p = product(w.view, static_cast<int64_t>(n), seen);
            p.sum += bias[n] + (wanted == 50 ? before[r * 151 + n] : 0);
            EXPECT_NEAR(y[r * 151 + n], p.sum, 4e-6 * p.size + 1e-6) << name_of(format);
          }
        }
      }
    }
  }
}

TEST(Reference, OwnLinearKeepsTheNorm) {
  Random random(2);
  CpuLane c("scalar");
  for (const FormatId format : all_formats()) {
    const int64_t cols = 32 * 40;
    const RandomMatrix w(random, format, 200, cols);
    std::vector<float> x = random_floats(random, cols);
    std::vector<float> y(200);
    c.ops().linear(c.lane, {.w = w.view, .x = view_of(x, 1, cols), .y = view_of(y, 1, 200)});
    const std::vector<double> unchanged(x.begin(), x.end());
    double error = 0;
    double norm = 0;
    for (int64_t n = 0; n < 200; ++n) {
      const Product p = product(w.view, n, unchanged);
      error += std::pow(y[static_cast<size_t>(n)] - p.sum, 2);
      norm += p.sum * p.sum;
    }
    EXPECT_LT(error / norm, has_int8_partner(format) ? 2e-4 : 1e-11) << name_of(format);
  }
}

TEST(Reference, HeadLinearMultipliesEachHeadWithItsRows) {
  constexpr int64_t kRows = 5;
  constexpr int64_t kHeads = 3;
  constexpr int64_t kHeadRows = 47;  // of which [first, first + count) take part
  constexpr int64_t kXHead = 111;
  constexpr int64_t kYHead = 103;
  Random random(6);
  for (const FormatId format : all_formats()) {
    const int64_t d = legal_cols(format, 101);
    const RandomMatrix w(random, format, kHeads * kHeadRows, d);
    std::vector<float> x = random_floats(random, kRows * kHeads * kXHead);
    for (const bool exact : {false, true}) {
      CpuLane c("scalar", exact);
      for (const bool transposed : {false, true}) {
        const int64_t first = transposed ? 0 : 30;
        const int64_t count = transposed ? 29 : 17;
        const int64_t n_out = transposed ? d : count;
        std::vector<float> y(kRows * kHeads * kYHead, 77);
        c.ops().head_linear(c.lane, {.w = w.view,
                                     .n_heads = kHeads,
                                     .head_rows = kHeadRows,
                                     .first = first,
                                     .count = count,
                                     .is_transposed = transposed,
                                     .x = view_of(x, kRows, kHeads * kXHead),
                                     .x_head = kXHead,
                                     .y = view_of(y, kRows, kHeads * kYHead),
                                     .y_head = kYHead});
        for (int64_t i = 0; i < kRows * kHeads; ++i) {
          const int64_t row = i % kHeads * kHeadRows + first;
          const float* piece = x.data() + i * kXHead;
          const std::vector<double> seen = activations(format, exact, piece, transposed ? 0 : d);
          for (int64_t o = 0; o < kYHead; ++o) {
            Product p;
            if (o >= n_out) {
              p.sum = 77;  // behind a head's piece nothing is written
            } else if (!transposed) {
              p = product(w.view, row + o, seen);
            } else {
              for (int64_t n = 0; n < count; ++n) {
                const double term = meant(w.view, row + n, o) * piece[n];
                p.sum += term;
                p.size += std::abs(term);
              }
            }
            EXPECT_NEAR(y[static_cast<size_t>(i * kYHead + o)], p.sum, 4e-6 * p.size)
                << name_of(format) << (transposed ? " transposed" : "");
          }
        }
      }
    }
  }
}

TEST(Reference, SlicesOfAMatrixKeepTheirScales) {
  Random random(3);
  CpuLane c("scalar");
  for (const FormatId format : all_formats()) {
    const RandomMatrix w(random, format, 300, 160);
    std::vector<float> x = random_floats(random, 160);
    std::vector<float> all(300);
    std::vector<float> part(100);
    c.ops().linear(c.lane, {.w = w.view, .x = view_of(x, 1, 160), .y = view_of(all, 1, 300)});
    c.ops().linear(
        c.lane, {.w = w.view.slice(77, 100), .x = view_of(x, 1, 160), .y = view_of(part, 1, 100)});
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + 77)) << name_of(format);
  }
}

TEST(Reference, ResultOfARowDoesNotDependOnItsCompany) {
  Random random(4);
  CpuLane c("scalar");
  for (const FormatId format : all_formats()) {
    const RandomMatrix w(random, format, 40, 480);
    std::vector<float> x = random_floats(random, 37 * 480);
    std::vector<float> all(37 * 40);
    c.ops().linear(c.lane, {.w = w.view, .x = view_of(x, 37, 480), .y = view_of(all, 37, 40)});
    for (int64_t r = 0; r < 37; ++r) {
      std::vector<float> one(40);
      const TensorView row = {.data = x.data() + r * 480, .rows = 1, .cols = 480, .stride = 480};
      c.ops().linear(c.lane, {.w = w.view, .x = row, .y = view_of(one, 1, 40)});
      EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + r * 40)) << name_of(format);
    }
  }
}

TEST(Reference, ActivationsAreAccurate) {
  CpuLane c("scalar");
  std::vector<float> x;
  for (double v = -90; v < 90; v += 0.0371) x.push_back(static_cast<float>(v));
  const auto n = static_cast<int64_t>(x.size());
  std::vector<float> y = x;
  std::vector<float> ones(x.size(), 1.0f);
  c.ops().gate(c.lane, {.spec = {}, .gate = view_of(y, 1, n), .up = view_of(ones, 1, n)});
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = x[i] / (1 + std::exp(-static_cast<double>(x[i])));
    EXPECT_NEAR(y[i], expected, 4e-7 * std::abs(expected) + 1e-35) << x[i];
  }
  y = x;
  c.ops().gate(c.lane, {.spec = {Activation::kClampedSwiglu, 1.702f, 7},
                        .gate = view_of(y, 1, n),
                        .up = view_of(x, 1, n)});
  for (size_t i = 0; i < x.size(); ++i) {
    const double g = std::min<double>(x[i], 7);
    const double u = std::clamp<double>(x[i], -7, 7);
    const double expected = g / (1 + std::exp(-static_cast<double>(1.702f) * g)) * (u + 1);
    EXPECT_NEAR(y[i], expected, 5e-6 * std::abs(expected) + 1e-30) << x[i];
  }
}

struct AttentionCase {
  int64_t n_kv_heads = 1;
  int64_t n_heads = 1;
  int64_t d_k = 0;
  int64_t d_v = 0;
  bool values_in_keys = false;
  bool is_f32 = true;
  int64_t window = 0;
  bool has_sinks = false;
};

/// Values that bfloat16 holds exactly, so that storing them as such changes nothing.
std::vector<float> short_floats(Random& random, int64_t n) {
  std::vector<float> values = random_floats(random, n);
  for (float& x : values) x = std::bit_cast<float>(std::bit_cast<uint32_t>(x) & 0xFFFF0000u);
  return values;
}

void compare_attention(Random& random, const AttentionCase& test) {
  constexpr int64_t kPositions = 100;
  const int64_t d_k = test.d_k;
  const int64_t d_v = test.d_v;
  std::vector<float> k = short_floats(random, kPositions * test.n_kv_heads * d_k);
  std::vector<float> v = short_floats(random, kPositions * test.n_kv_heads * d_v);
  std::vector<float> q = random_floats(random, kPositions * test.n_heads * d_k);
  const std::vector<float> sinks = random_floats(random, test.n_heads);
  std::vector<float> y(static_cast<size_t>(kPositions * test.n_heads * d_v));
  std::vector<int32_t> positions(kPositions);
  std::iota(positions.begin(), positions.end(), 0);
  const std::vector<int32_t> pages = {1, 0};
  const std::vector<const int32_t*> tables(kPositions, pages.data());
  KvLayer kv = {.n_kv_heads = test.n_kv_heads,
                .d_k = d_k,
                .d_v = d_v,
                .values_in_keys = test.values_in_keys,
                .is_f32 = test.is_f32};
  kv.page_bytes = kPageTokens * test.n_kv_heads * (d_k + (test.values_in_keys ? 0 : d_v)) *
                  (test.is_f32 ? 4 : 2);
  std::vector<uint8_t> memory(static_cast<size_t>(2 * kv.page_bytes));
  kv.pages = memory.data();
  const RowPositions rows = {kPositions, positions.data(), tables.data(), kPositions};
  CpuLane c("scalar");
  c.ops().store_kv(c.lane, {.kv = kv,
                            .rows = rows,
                            .k = view_of(k, kPositions, test.n_kv_heads * d_k),
                            .v = view_of(v, kPositions, test.n_kv_heads * d_v)});
  c.ops().attention(c.lane, {.kv = kv,
                             .rows = rows,
                             .q = view_of(q, kPositions, test.n_heads * d_k),
                             .out = view_of(y, kPositions, test.n_heads * d_v),
                             .n_heads = test.n_heads,
                             .scale = 0.25f,
                             .window = test.window,
                             .sinks = test.has_sinks ? sinks.data() : nullptr});
  for (int64_t i = 0; i < kPositions * test.n_heads; ++i) {
    const int64_t r = i / test.n_heads;
    const int64_t h = i % test.n_heads;
    const int64_t kv_head = h * test.n_kv_heads / test.n_heads;
    double total = test.has_sinks ? std::exp(double(sinks[static_cast<size_t>(h)])) : 0;
    std::vector<double> mixed(static_cast<size_t>(d_v));
    for (int64_t t = test.window == 0 ? 0 : std::max<int64_t>(0, r + 1 - test.window); t <= r;
         ++t) {
      const float* key = k.data() + (t * test.n_kv_heads + kv_head) * d_k;
      const float* value =
          test.values_in_keys ? key : v.data() + (t * test.n_kv_heads + kv_head) * d_v;
      const double score =
          std::inner_product(key, key + d_k, q.begin() + i * d_k, 0.0, std::plus<>(),
                             [](double a, double b) { return a * b; });
      const double weight = std::exp(score * 0.25);
      total += weight;
      for (size_t x = 0; x < mixed.size(); ++x) mixed[x] += weight * value[x];
    }
    for (size_t x = 0; x < mixed.size(); ++x) {
      EXPECT_NEAR(y[static_cast<size_t>(i * d_v) + x], mixed[x] / total, 3e-6);
    }
  }
}

TEST(Reference, AttentionIsSoftmaxOverTheWindow) {
  Random random(5);
  compare_attention(random, {.n_heads = 2, .d_k = 20, .d_v = 20, .window = 33, .has_sinks = true});
  compare_attention(random, {.n_kv_heads = 3, .n_heads = 6, .d_k = 21, .d_v = 13, .is_f32 = false});
  compare_attention(random, {.n_heads = 3, .d_k = 37, .d_v = 29, .values_in_keys = true});
  compare_attention(random, {.n_heads = 5,
                             .d_k = 37,
                             .d_v = 29,
                             .values_in_keys = true,
                             .is_f32 = false,
                             .window = 65,
                             .has_sinks = true});
}

TEST(Reference, ImpossibleInstructionSetIsRefusedWithTheList) {
  try {
    cpu_ops("avx9000", false);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_NE(std::string(error.what()).find("scalar"), std::string::npos);
  }
}

}  // namespace
}  // namespace ft::test
