// Which steps may round activations: those of a prompt, where it is not switched off.
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/team.h"
#include "engine/session.h"
#include "kernels/cpu/select.h"
#include "kernels/ops.h"
#include "models/registry.h"
#include "tests/engine/golden.h"

namespace ft::test {
namespace {

using testing::Each;

std::vector<bool> seen;  // Lane::may_round of each multiplication

/// The scalar table, whose multiplications say what they were allowed.
Ops recording_ops() {
  static const Ops& scalar = cpu_ops("scalar", false);
  Ops ops = scalar;
  ops.linear = [](Lane& lane, const LinearArgs& args) {
    seen.push_back(lane.may_round);
    scalar.linear(lane, args);
  };
  ops.linear_group = [](Lane& lane, const LinearGroupArgs& args) {
    seen.push_back(lane.may_round);
    scalar.linear_group(lane, args);
  };
  ops.experts = [](Lane& lane, const ExpertsArgs& args) {
    seen.push_back(lane.may_round);
    scalar.experts(lane, args);
  };
  return ops;
}

class Phases : public testing::TestWithParam<bool> {};

TEST_P(Phases, OnlyThePromptIsRounded) {
  const Checkpoint checkpoint = Checkpoint::open(fixture_dir("qwen3_moe"));
  const std::unique_ptr<Model> model = open_model(checkpoint);
  Team team(1);
  const Placement placement =
      plan_placement(*model, {.n_context = 0, .n_prefill_rows = 4, .n_threads = 1});
  model->bank().fill(team, {});
  const Ops ops = recording_ops();
  Runner runner(*model, placement, {.ops = &ops, .team = &team, .may_round = GetParam()});
  ModelReport report;
  report.n_vocab = model->card().n_vocab;
  report.n_context = report.n_session_context = placement.n_context;
  RunnerSession session(runner, report);

  seen.clear();
  const std::vector<int32_t> prompt = {1, 2, 3, 4, 5};
  size_t n_prefill = 0;
  session.generate({.tokens = prompt, .max_tokens = 3}, [&](int32_t) {
    if (n_prefill == 0) n_prefill = seen.size();
    return true;
  });
  ASSERT_GT(n_prefill, 0u);
  ASSERT_GT(seen.size(), n_prefill);
  const auto decode = seen.begin() + static_cast<ptrdiff_t>(n_prefill);
  EXPECT_THAT(std::vector<bool>(seen.begin(), decode), Each(GetParam()));
  EXPECT_THAT(std::vector<bool>(decode, seen.end()), Each(false));

  seen.clear();
  session.score(prompt, [](int64_t, std::span<const float>) {});
  ASSERT_GT(seen.size(), 0u);
  EXPECT_THAT(seen, Each(false));
}

INSTANTIATE_TEST_SUITE_P(AllowedOrNot, Phases, testing::Bool(),
                         [](const auto& p) { return p.param ? "allowed" : "switched_off"; });

}  // namespace
}  // namespace ft::test
