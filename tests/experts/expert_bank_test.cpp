// Records hold what the files mean: compared value by value with the tensors, addressed as their
// publishers document them.
#include "experts/expert_bank.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/team.h"
#include "tests/support/random_weights.h"
#include "tests/support/thread_counts.h"

namespace ft::test {
namespace {

Checkpoint fixture(const std::string& name) {
  return Checkpoint::open(std::string(FT_SOURCE_DIR) + "/fixtures/" + name);
}

const uint8_t* bytes_of(const TensorEntry& tensor) {
  return reinterpret_cast<const uint8_t*>(tensor.data);
}

/// Number i of a tensor of plain numbers, or of scales.
double number_at(const TensorEntry& tensor, int64_t i) {
  const uint8_t* data = bytes_of(tensor);
  switch (tensor.dtype) {
    case DType::kF32:
      return load<float>(data + 4 * i);
    case DType::kBF16:
      return bf16(load<uint16_t>(data + 2 * i));
    case DType::kF8E4M3:
      return e4m3(data[i]);
    case DType::kF8E8M0:
    case DType::kU8:  // as gpt-oss stores them
      return e8m0(data[i]);
    default:
      ADD_FAILURE() << tensor.name;
      return 0;
  }
}

/// W[n, k] of a module, read from the tensors as each publisher's documents say.
double file_value(const Checkpoint& checkpoint, const std::string& module, int64_t n, int64_t k) {
  const auto tensor = [&](const char* suffix) { return checkpoint.find(module + suffix); };
  const TensorEntry* packed = tensor(".weight_packed");
  const TensorEntry& weight = packed != nullptr ? *packed : checkpoint.at(module + ".weight");
  const int64_t row = weight.shape[1];  // bytes, or numbers
  switch (weight.dtype) {
    case DType::kU8: {  // NVFP4: a scale for each 16, and one for all that multiplies or divides
      const double all = packed != nullptr ? 1 / number_at(*tensor(".weight_global_scale"), 0)
                                           : number_at(*tensor(".weight_scale_2"), 0);
      return e2m1(bytes_of(weight) + n * row, k) *
             number_at(*tensor(".weight_scale"), n * (row / 8) + k / 16) * all;
    }
    case DType::kI8:  // DeepSeek's fp4: a power of two for each 32
      return e2m1(bytes_of(weight) + n * row, k) *
             number_at(*tensor(".scale"), n * (row / 16) + k / 32);
    case DType::kF8E4M3: {  // a scale for each tile of 128 x 128
      const TensorEntry* scale = tensor(".weight_scale_inv");
      if (scale == nullptr) scale = tensor(".scale");
      return number_at(weight, n * row + k) *
             number_at(*scale, n / 128 * scale->shape[1] + k / 128);
    }
    default:
      return number_at(weight, n * row + k);
  }
}

constexpr ExpertMatrix kMatrices[] = {ExpertMatrix::kGate, ExpertMatrix::kUp, ExpertMatrix::kDown};

class NamedExperts : public testing::TestWithParam<std::string> {};

TEST_P(NamedExperts, AreWhatTheTensorsMean) {
  const Checkpoint checkpoint = fixture(GetParam());
  const std::string names[] = {"gate_proj", "up_proj", "down_proj"};
  const auto module = [&](int64_t layer, int64_t e, ExpertMatrix m) {
    return "model.layers." + std::to_string(layer) + ".mlp.experts." + std::to_string(e) + "." +
           names[static_cast<int>(m)];
  };
  const auto has = [&](int64_t layer, int64_t e) {
    const std::string name = module(layer, e, ExpertMatrix::kGate) + ".weight";
    return checkpoint.find(name) != nullptr || checkpoint.find(name + "_packed") != nullptr;
  };
  const Config& config = checkpoint.config();
  const int64_t d_model = config.integer({"hidden_size"});
  const int64_t d_expert = config.integer({"moe_intermediate_size", "intermediate_size"});
  std::vector<int64_t> layers;
  for (int64_t layer = 0; layer < config.integer({"num_hidden_layers"}); ++layer) {
    if (has(layer, 0)) layers.push_back(layer);
  }
  int64_t n_experts = 0;
  while (has(layers.at(0), n_experts)) ++n_experts;
  for (const int n_threads : thread_counts()) {
    Weights weights(checkpoint);
    std::vector<ExpertSource> sources;
    for (const int64_t layer : layers) {
      for (int64_t e = 0; e < n_experts; ++e) {
        sources.push_back(
            {.gate = weights.expert(module(layer, e, ExpertMatrix::kGate), d_expert, d_model),
             .up = weights.expert(module(layer, e, ExpertMatrix::kUp), d_expert, d_model),
             .down = weights.expert(module(layer, e, ExpertMatrix::kDown), d_model, d_expert)});
      }
    }
    ExpertBank bank(sources, n_experts);
    Team team(n_threads);
    uint64_t reported = 0;
    bank.fill(team, [&](uint64_t n_bytes) { reported = n_bytes; });
    EXPECT_LE(reported, bank.n_bytes());
    ASSERT_EQ(bank.n_layers(), static_cast<int64_t>(layers.size()));
    for (size_t i = 0; i < layers.size(); ++i) {
      for (int64_t e = 0; e < n_experts; ++e) {
        const uint8_t* record = bank.layer(static_cast<int64_t>(i)) +
                                static_cast<uint64_t>(e) * bank.layout().record_bytes();
        for (const ExpertMatrix m : kMatrices) {
          const WeightView view = bank.layout().matrix(record, m);
          const std::string name = module(layers[i], e, m);
          for (int64_t n = 0; n < view.rows; ++n) {
            for (int64_t k = 0; k < view.cols; ++k) {
              const double expected = file_value(checkpoint, name, n, k);
              // The reciprocal of compressed-tensors is rounded to float32.
              ASSERT_NEAR(meant(view, n, k), expected, 0x1p-23 * std::abs(expected))
                  << name << " [" << n << ", " << k << "]";
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, NamedExperts,
                         testing::Values("olmoe", "qwen3_moe_nvfp4", "qwen3_moe_nvfp4_ct",
                                         "qwen3_moe_fp8", "qwen3_moe_fp8_f32_odd",
                                         "deepseek_v3_fp4"),
                         [](const auto& p) { return p.param; });

/// W[n, k] of expert e in gpt-oss's tensors: plain numbers lie transposed.
double stacked_value(const Checkpoint& checkpoint, const std::string& base, int64_t e, int64_t n,
                     int64_t k) {
  if (const TensorEntry* all = checkpoint.find(base)) {
    return number_at(*all, (e * all->shape[1] + k) * all->shape[2] + n);
  }
  const TensorEntry& blocks = checkpoint.at(base + "_blocks");
  const int64_t block = (e * blocks.shape[1] + n) * blocks.shape[2] + k / 32;
  return e2m1(bytes_of(blocks) + block * 16, k % 32) *
         number_at(checkpoint.at(base + "_scales"), block);
}

constexpr int64_t kExperts = 8;

/// The experts of a layer of gpt-oss: gate and up are rows of one tensor in turn.
std::vector<ExpertSource> stacked_sources(Weights& weights, const std::string& prefix) {
  const Checkpoint& checkpoint = weights.checkpoint();
  const int64_t d_model = checkpoint.config().integer({"hidden_size"});
  const int64_t d_expert = checkpoint.config().integer({"intermediate_size"});
  std::vector<ExpertSource> sources;
  for (int64_t e = 0; e < kExperts; ++e) {
    const auto in_turn = [&](int64_t first) {
      return weights.stacked_expert(prefix + "gate_up_proj", {kExperts, e, 2 * d_expert, first, 2},
                                    d_expert, d_model);
    };
    sources.push_back({.gate = in_turn(0),
                       .up = in_turn(1),
                       .down = weights.stacked_expert(
                           prefix + "down_proj", {kExperts, e, d_model, 0, 1}, d_model, d_expert)});
  }
  return sources;
}

class StackedExperts : public testing::TestWithParam<std::string> {};

TEST_P(StackedExperts, AreWhatTheTensorsMeanWithGateAndUpInTurn) {
  const Checkpoint checkpoint = fixture(GetParam());
  Weights weights(checkpoint);
  const std::string prefix = "model.layers.1.mlp.experts.";
  ExpertBank bank(stacked_sources(weights, prefix), kExperts);
  Team team(1);
  bank.fill(team, {});
  for (int64_t e = 0; e < kExperts; ++e) {
    const uint8_t* record = bank.layer(0) + static_cast<uint64_t>(e) * bank.layout().record_bytes();
    for (const ExpertMatrix m : kMatrices) {
      const bool is_down = m == ExpertMatrix::kDown;
      const std::string base = prefix + (is_down ? "down_proj" : "gate_up_proj");
      const TensorEntry& bias = checkpoint.at(base + "_bias");
      const WeightView view = bank.layout().matrix(record, m);
      for (int64_t n = 0; n < view.rows; ++n) {
        const int64_t row = is_down ? n : 2 * n + (m == ExpertMatrix::kUp ? 1 : 0);
        ASSERT_EQ(bank.layout().bias(record, m)[n], number_at(bias, e * bias.shape[1] + row));
        for (int64_t k = 0; k < view.cols; ++k) {
          ASSERT_EQ(meant(view, n, k), stacked_value(checkpoint, base, e, row, k))
              << base << " " << e << " [" << row << ", " << k << "]";
        }
      }
    }
  }
}

TEST_P(StackedExperts, SpanTheTensorsToTheirEnds) {
  const Checkpoint checkpoint = fixture(GetParam());
  Weights weights(checkpoint);
  const std::string prefix = "model.layers.1.mlp.experts.";
  const std::vector<ExpertSource> sources = stacked_sources(weights, prefix);
  const auto find = [&](const std::string& base) {
    const TensorEntry* plain = checkpoint.find(prefix + base);
    return plain != nullptr ? *plain : checkpoint.at(prefix + base + "_blocks");
  };
  const auto end = [](const MatrixSource& source) { return source.codes + source.span_bytes(); };
  const TensorEntry both = find("gate_up_proj");
  const TensorEntry down = find("down_proj");
  const uint8_t* end_of_both = bytes_of(both) + both.n_bytes;
  EXPECT_EQ(sources.front().gate.codes, bytes_of(both));
  EXPECT_EQ(end(sources.back().up), end_of_both);
  EXPECT_LT(end(sources.back().gate), end_of_both);
  EXPECT_EQ(sources.front().down.codes, bytes_of(down));
  EXPECT_EQ(end(sources.back().down), bytes_of(down) + down.n_bytes);
  EXPECT_EQ(end(sources.front().down), sources[1].down.codes);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, StackedExperts, testing::Values("gpt_oss", "gpt_oss_mxfp4"),
                         [](const auto& p) { return p.param; });

TEST(ExpertBank, ExpertsThatDifferAreRefused) {
  const Checkpoint plain = fixture("qwen3_moe");
  const Checkpoint packed = fixture("qwen3_moe_nvfp4");
  Weights plain_weights(plain);
  Weights packed_weights(packed);
  const auto source = [](Weights& weights) {
    const std::string prefix = "model.layers.0.mlp.experts.0.";
    return ExpertSource{.gate = weights.expert(prefix + "gate_proj", 32, 64),
                        .up = weights.expert(prefix + "up_proj", 32, 64),
                        .down = weights.expert(prefix + "down_proj", 64, 32)};
  };
  try {
    ExpertBank bank({source(plain_weights), source(packed_weights)}, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.what(), testing::HasSubstr("nvfp4"));
  }
}

}  // namespace
}  // namespace ft::test
