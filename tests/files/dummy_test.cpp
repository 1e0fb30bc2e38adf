// Made-up tensors: legal values of the size that is promised, memory as it is counted.
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/team.h"
#include "files/checkpoint.h"
#include "files/dummy_memory.h"
#include "files/dummy_tensors.h"
#include "files/weights.h"
#include "tests/files/files_support.h"
#include "tests/support/random_weights.h"

namespace ft::test {
namespace {

constexpr const char* kFp8 =
    R"("quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]})";
constexpr const char* kNvfp4 =
    R"("quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["a"]})";
constexpr const char* kPackedNvfp4 = R"("quantization_config": {
    "quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized",
    "config_groups": {"g": {"weights": {"num_bits": 4, "type": "float", "group_size": 16}}}})";
constexpr const char* kMxfp4 = R"("quantization_config": {"quant_method": "mxfp4"})";
constexpr const char* kPlain = R"("quantization_config": null)";

class Dummy : public testing::Test {
 protected:
  Checkpoint open(const std::string& declaration, uint64_t seed = 0) {
    folder_.write("config.json", "{" + declaration + "}");
    return Checkpoint::open_dummy(folder_.path(), seed);
  }

  ScratchFolder folder_;
  Team team_{2};
};

/// Mean and deviation of what a matrix means.
struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments_of(const WeightView& w) {
  double sum = 0;
  double square = 0;
  for (int64_t n = 0; n < w.rows; ++n) {
    for (int64_t k = 0; k < w.cols; ++k) {
      const double value = meant(w, n, k);
      sum += value;
      square += value * value;
    }
  }
  const auto count = static_cast<double>(w.rows * w.cols);
  return {sum / count, std::sqrt(square / count)};
}

TEST_F(Dummy, WeightsOfEveryFormatHaveTheDeviationOfOneOverTheRootOfTheColumns) {
  const std::map<std::string, FormatId> schemes = {{kPlain, kIdOf<Bf16>},
                                                   {kFp8, kIdOf<Fp8Block>},
                                                   {kNvfp4, kIdOf<Nvfp4>},
                                                   {kPackedNvfp4, kIdOf<Nvfp4>},
                                                   {kMxfp4, kIdOf<Mxfp4>}};
  for (const auto& [declaration, format] : schemes) {
    for (const int64_t cols : {64, 512, 2880}) {
      const Checkpoint checkpoint = open(declaration);
      Weights weights(checkpoint);
      const WeightView w = weights.dense("m.q_proj", 2000, cols);
      EXPECT_EQ(w.format, format) << declaration;
      checkpoint.dummy()->fill(team_);
      const Moments m = moments_of(w);
      const double expected = 1 / std::sqrt(static_cast<double>(cols));
      EXPECT_NEAR(m.deviation / expected, 1, 0.06) << declaration << cols;
      EXPECT_LT(std::abs(m.mean), 0.05 * expected) << declaration << cols;
    }
  }
}

TEST_F(Dummy, NormsAreOneAndBiasesAreSmall) {
  const Checkpoint checkpoint = open(kPlain);
  Weights weights(checkpoint);
  const float* norm = weights.vector("model.norm.weight", 100);
  const float* bias = weights.vector("m.q_proj.bias", 100);
  std::set<float> values;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(norm[i], 1);
    EXPECT_LT(std::abs(bias[i]), 0.1f);
    values.insert(bias[i]);
  }
  EXPECT_GT(values.size(), 50u);
}

TEST_F(Dummy, EmbeddingHeadAndRoutersKeepTheirTypeThoughNoListNamesThem) {
  const Checkpoint checkpoint = open(kNvfp4);
  Weights weights(checkpoint);
  for (const char* module : {"model.embed_tokens", "lm_head", "model.layers.0.mlp.gate", "a"}) {
    EXPECT_EQ(weights.dense(module, 32, 64).format, kIdOf<Bf16>) << module;
  }
  EXPECT_EQ(weights.dense("b", 32, 64).format, kIdOf<Nvfp4>);
  EXPECT_EQ(weights.expert("m.experts.0.gate", 32, 64).format, kIdOf<Nvfp4>);
}

TEST_F(Dummy, ExpertsAreOneOfAKindEachAndTakeNoMemoryOfTheirOwn) {
  const Checkpoint checkpoint = open(kMxfp4);
  Weights weights(checkpoint);
  const StackedRows which = {.n_experts = 500, .expert = 0, .n_rows = 512};
  std::vector<MatrixSource> sources;
  for (int64_t e = 0; e < 500; ++e) {
    StackedRows row = which;
    row.expert = e;
    sources.push_back(weights.stacked_expert("m.down_proj", row, 512, 512));
  }
  // 66 MB, of which nothing is a dense weight's.
  EXPECT_EQ(checkpoint.tensor_bytes(), 500u * 512 * (256 + 16 + 2));
  EXPECT_EQ(checkpoint.dummy()->own_bytes(), 0u);
  std::set<std::string> seen;
  for (const MatrixSource& source : sources) {
    std::string codes(256 * 512, '\0');
    copy_codes(source, reinterpret_cast<uint8_t*>(codes.data()), 256);
    std::string scales(16 * 512, '\0');
    copy_scales(source, reinterpret_cast<uint8_t*>(scales.data()));
    EXPECT_LT(std::abs(value_at(source.bias, 511)), 0.1f);
    seen.insert(codes);
  }
  EXPECT_EQ(seen.size(), sources.size());
}

TEST_F(Dummy, SameSeedSameBytesWhateverTheThreads) {
  const auto bytes = [&](uint64_t seed, int n_threads) {
    const Checkpoint checkpoint = open(kPlain, seed);
    Weights weights(checkpoint);
    const WeightView w = weights.dense("m", 1000, 1000);
    Team team(n_threads);
    checkpoint.dummy()->fill(team);
    return std::string(reinterpret_cast<const char*>(w.codes), bytes_of(w));
  };
  const std::string first = bytes(1, 1);
  EXPECT_EQ(first, bytes(1, 2));
  EXPECT_NE(first, bytes(2, 1));
}

TEST_F(Dummy, SizesBeyondReasonAreRefusedBeforeTheyCostAnything) {
  const Checkpoint checkpoint = open(kFp8);
  Weights weights(checkpoint);
  const int64_t huge = int64_t{1} << 40;
  expect_error(ErrorKind::kOutOfMemory, {"a.weight"}, [&] { weights.dense("a", huge, 1 << 20); });
  expect_error(ErrorKind::kOutOfMemory, {"b.weight"}, [&] { weights.vector("b.weight", huge); });
  expect_error(ErrorKind::kOutOfMemory, {"c.weight"},
               [&] { weights.expert("c", huge, int64_t{1} << 30); });
  expect_error(ErrorKind::kUnsupported, {"one tensor"},
               [&] { weights.stacked_expert("d", {.n_experts = 2, .n_rows = 64}, 64, 64); });
  const Checkpoint plain = open(kMxfp4);
  Weights many(plain);
  expect_error(ErrorKind::kOutOfMemory, {"1048576"}, [&] {
    for (int layer = 0; layer < 4096; ++layer) {
      many.stacked_expert(std::to_string(layer), {.n_experts = 65536, .n_rows = 32}, 32, 32);
    }
  });
}

TEST(RepeatedMemory, ShowsItsPeriodAgainAndAgain) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  RepeatedMemory memory(page);
  for (size_t i = 0; i < page; ++i) memory.data()[i] = static_cast<std::byte>(i * 7 % 251);
  const std::byte* view = memory.view(10 * page);
  for (size_t at = 0; at <= 10 * page; at += page) {
    const size_t n = at < 10 * page ? page : 256;  // and some past the end
    EXPECT_EQ(std::memcmp(view + at, memory.data(), n), 0) << at;
  }
  const std::byte* longer = memory.view(20 * page);
  EXPECT_EQ(std::memcmp(view, longer, 10 * page), 0);  // the first stays
}

TEST(LaterMemory, PiecesDoNotOverlapAndReadAsZeros) {
  LaterMemory memory;
  std::map<const std::byte*, size_t> pieces;
  for (const size_t n : {size_t{1}, size_t{0}, size_t{100'000'000}, size_t{64}, size_t{66'000'000},
                         size_t{67'108'608}, size_t{5000}}) {
    std::byte* piece = memory.take(n);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % 64, 0u);
    EXPECT_EQ(piece[n + 255], std::byte{0});
    if (n > 0) {
      EXPECT_EQ(piece[n - 1], std::byte{0});
      piece[0] = piece[n - 1] = std::byte{1};
    }
    pieces[piece] = n;
  }
  for (auto piece = pieces.begin(); std::next(piece) != pieces.end(); ++piece) {
    EXPECT_LE(piece->first + piece->second + 256, std::next(piece)->first);
  }
}

}  // namespace
}  // namespace ft::test
