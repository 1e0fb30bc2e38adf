// Records hold what the files mean: compared value by value with the tensors, addressed as their
// publishers document them.
#include "experts/expert_bank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/team.h"
#include "tests/support/random_weights.h"

namespace ft::test {
namespace {

Checkpoint fixture(const std::string& name) {
  return Checkpoint::open(std::string(FT_SOURCE_DIR) + "/fixtures/" + name);
}

uint16_t u16_at(const TensorEntry& tensor, int64_t index) {
  return load<uint16_t>(tensor.data + 2 * index);
}

constexpr int64_t kExperts = 8;
constexpr int64_t kModel = 64;
constexpr int64_t kHidden = 32;

TEST(ExpertBank, NamedMatricesKeepTheirPlaces) {
  const Checkpoint checkpoint = fixture("olmoe");
  Weights weights(checkpoint);
  std::vector<ExpertSource> sources;
  const auto module = [](int64_t layer, int64_t e, const char* name) {
    return "model.layers." + std::to_string(layer) + ".mlp.experts." + std::to_string(e) + "." +
           name;
  };
  for (int64_t layer = 0; layer < 4; ++layer) {
    for (int64_t e = 0; e < kExperts; ++e) {
      sources.push_back({.gate = weights.expert(module(layer, e, "gate_proj"), kHidden, kModel),
                         .up = weights.expert(module(layer, e, "up_proj"), kHidden, kModel),
                         .down = weights.expert(module(layer, e, "down_proj"), kModel, kHidden)});
    }
  }
  ExpertBank bank(sources, kExperts);
  Team team(2);
  uint64_t reported = 0;
  bank.fill(team, [&](uint64_t n_bytes) { reported = n_bytes; });
  EXPECT_LE(reported, bank.n_bytes());
  ASSERT_EQ(bank.n_layers(), 4);
  for (int64_t layer = 0; layer < 4; ++layer) {
    for (int64_t e = 0; e < kExperts; ++e) {
      const uint8_t* record =
          bank.layer(layer) + static_cast<uint64_t>(e) * bank.layout().record_bytes();
      const TensorEntry& down = checkpoint.at(module(layer, e, "down_proj") + ".weight");
      const WeightView view = bank.layout().matrix(record, ExpertMatrix::kDown);
      for (int64_t n = 0; n < kModel; ++n) {
        for (int64_t k = 0; k < kHidden; ++k) {
          ASSERT_EQ(meant(view, n, k), bf16_to_f32(u16_at(down, n * kHidden + k)));
        }
      }
    }
  }
}

TEST(ExpertBank, StackedTransposedMatricesWithGateAndUpInTurn) {
  const Checkpoint checkpoint = fixture("gpt_oss");
  Weights weights(checkpoint);
  const std::string prefix = "model.layers.1.mlp.experts.";
  const auto rows = [](int64_t e, int64_t n_rows, int64_t first, int64_t step) {
    return StackedRows{kExperts, e, n_rows, first, step};
  };
  const int64_t hidden = checkpoint.at(prefix + "down_proj").shape[1];
  std::vector<ExpertSource> sources;
  for (int64_t e = 0; e < kExperts; ++e) {
    sources.push_back({.gate = weights.stacked_expert(prefix + "gate_up_proj",
                                                      rows(e, 2 * hidden, 0, 2), hidden, kModel),
                       .up = weights.stacked_expert(prefix + "gate_up_proj",
                                                    rows(e, 2 * hidden, 1, 2), hidden, kModel),
                       .down = weights.stacked_expert(prefix + "down_proj", rows(e, kModel, 0, 1),
                                                      kModel, hidden)});
  }
  ExpertBank bank(sources, kExperts);
  Team team(1);
  bank.fill(team, {});
  const TensorEntry& gate_up = checkpoint.at(prefix + "gate_up_proj");
  const TensorEntry& bias = checkpoint.at(prefix + "gate_up_proj_bias");
  for (int64_t e = 0; e < kExperts; ++e) {
    const uint8_t* record = bank.layer(0) + static_cast<uint64_t>(e) * bank.layout().record_bytes();
    for (const ExpertMatrix m : {ExpertMatrix::kGate, ExpertMatrix::kUp}) {
      const int64_t odd = m == ExpertMatrix::kUp ? 1 : 0;
      const WeightView view = bank.layout().matrix(record, m);
      for (int64_t n = 0; n < hidden; ++n) {
        ASSERT_EQ(bank.layout().bias(record, m)[n],
                  bf16_to_f32(u16_at(bias, e * 2 * hidden + 2 * n + odd)));
        for (int64_t k = 0; k < kModel; ++k) {
          ASSERT_EQ(meant(view, n, k),
                    bf16_to_f32(u16_at(gate_up, (e * kModel + k) * 2 * hidden + 2 * n + odd)));
        }
      }
    }
  }
}

TEST(ExpertBank, ExpertsThatDifferAreRefused) {
  const Checkpoint plain = fixture("qwen3_moe");
  const Checkpoint packed = fixture("qwen3_moe_nvfp4");
  Weights plain_weights(plain);
  Weights packed_weights(packed);
  const auto source = [](Weights& weights) {
    const std::string prefix = "model.layers.0.mlp.experts.0.";
    return ExpertSource{.gate = weights.expert(prefix + "gate_proj", kHidden, kModel),
                        .up = weights.expert(prefix + "up_proj", kHidden, kModel),
                        .down = weights.expert(prefix + "down_proj", kModel, kHidden)};
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
