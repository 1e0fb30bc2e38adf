// The arena of a step is as large as the model says, for models of many shapes.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/team.h"
#include "engine/runner.h"
#include "kernels/cpu/select.h"
#include "models/registry.h"
#include "tests/support/made_model.h"
#include "tests/support/thread_counts.h"

namespace ft::test {
namespace {

using nlohmann::json;

int64_t pick(std::mt19937_64& random, std::initializer_list<int64_t> values) {
  return values.begin()[random() % values.size()];
}

json random_config(std::mt19937_64& random, const std::string& type) {
  const int64_t n_kv = pick(random, {1, 2, 3});
  const int64_t n_experts = pick(random, {4, 6});
  return {{"model_type", type},
          {"vocab_size", pick(random, {5, 300})},
          {"hidden_size", pick(random, {8, 40, 300})},
          {"num_hidden_layers", 2},
          {"num_attention_heads", n_kv * pick(random, {1, 2, 5})},
          {"num_key_value_heads", n_kv},
          {"head_dim", pick(random, {2, 6, 40})},
          {"max_position_embeddings", 70},
          {"rms_norm_eps", 1e-6},
          {"rope_theta", 1e4},
          {"intermediate_size", pick(random, {3, 50, 400})},
          {"moe_intermediate_size", pick(random, {3, 50, 130})},
          {"shared_expert_intermediate_size", pick(random, {3, 300})},
          {"num_experts", n_experts},
          {"num_experts_per_tok", pick(random, {1, 2, 4})},
          {"n_group", 2},
          {"topk_group", 2},
          {"routed_scaling_factor", 1.5},
          {"first_k_dense_replace", 1},
          {"n_shared_experts", pick(random, {0, 1, 2})},
          {"partial_rotary_factor", 1.0},
          {"qk_nope_head_dim", pick(random, {1, 7, 30})},
          {"qk_rope_head_dim", pick(random, {2, 8})},
          {"v_head_dim", pick(random, {1, 9, 20})},
          {"kv_lora_rank", pick(random, {1, 33, 200})},
          {"q_lora_rank", pick(random, {1, 50, 8192})}};
}

class Scratch : public testing::TestWithParam<std::string> {};

TEST_P(Scratch, NoStepTakesMoreThanIsPlanned) {
  std::mt19937_64 random(3);
  const std::vector<int> counts = thread_counts();
  for (size_t trial = 0; trial < 12; ++trial) {
    Team team(counts[trial % counts.size()]);
    const MadeModel made(random_config(random, GetParam()));
    const Checkpoint checkpoint = Checkpoint::open(made.folder());
    const std::unique_ptr<Model> model = open_model(checkpoint);
    const int64_t n_rows = pick(random, {1, 7, 34, 70});
    const Placement placement =
        plan_placement(*model, {.n_context = 0,
                                .n_prefill_rows = n_rows,
                                .n_threads = team.n_threads(),
                                .n_group_rows = cpu_ops("auto", false).n_group_rows});
    model->bank().fill(team, {});
    // As little as a machine can be measured to want, so that all that can be decoded is.
    Crossovers least;
    std::fill(std::begin(least.of), std::end(least.of), Crossovers::Rows{.decoded = 2, .tiles = 2});
    const Lane plain = {.ops = &cpu_ops("auto", false), .team = &team};
    const Lane exact = {.ops = &cpu_ops("auto", true), .team = &team};
    const Lane tiled = {.ops = plain.ops, .team = &team, .crossovers = least, .may_round = true};
    for (const Lane& lane : {plain, exact, tiled}) {
      Runner runner(*model, placement, lane);
      PageTable pages(runner.kv());
      ASSERT_TRUE(pages.grow(placement.n_context));
      const std::vector<int32_t> tokens(static_cast<size_t>(placement.n_prefill_rows), 1);
      const int64_t first = placement.n_context - placement.n_prefill_rows;
      // Aborts if the arena is too small.
      runner.step(tokens, first, pages, LogitRows::kAll, Phase::kPrefill);
      EXPECT_LE(runner.arena().peak(), placement.scratch_bytes);
      // Rows are counted as padded to the longest segment of any format, which these models' are not.
      constexpr size_t kPadding = 128 << 10;
      EXPECT_GE(runner.arena().peak() * 20 + kPadding, placement.scratch_bytes)
          << "the bound is far off";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, Scratch,
                         testing::Values("qwen3_moe", "qwen2_moe", "deepseek_v3", "glm4_moe"),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace ft::test
