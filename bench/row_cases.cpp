// What the small operations of a step cost at one row, where the time goes into starting rather
// than into work.
#include "tests/cases/row_cases.h"

#include <memory>

#include "bench/work.h"
#include "tests/cases/linear_case.h"

namespace ft::bench {
namespace {

template <typename Input, typename Test>
struct State {
  explicit State(const Test& c) : random(1), input(random, c) {}

  test::Random random;
  Input input;
  std::vector<float> y;
  std::vector<int32_t> ids;
};

Work prepare_norm(const test::NormCase& c) {
  const auto state = std::make_shared<State<test::NormInput, test::NormCase>>(c);
  state->y.resize(static_cast<size_t>(c.n_outputs()));
  return {.call = [state](Rig& r) { state->input.run(r.lane(), state->y); }};
}

Work prepare_rope(const test::RopeCase& c) {
  const auto state = std::make_shared<State<test::RopeInput, test::RopeCase>>(c);
  // Turned again and again: other numbers than those of an angle would grow or vanish without end.
  const auto half = static_cast<size_t>(c.d_rotary / 2);
  std::vector<float>& angles = state->input.cos_sin;
  for (size_t i = 0; i < angles.size(); ++i) angles[i] = i / half % 2 == 0 ? 0.6f : 0.8f;
  state->y = state->input.x;
  return {.call = [state](Rig& r) { r.ops().rope(r.lane(), state->input.args(state->y)); }};
}

Work prepare_route(const test::RouteCase& c) {
  const auto state = std::make_shared<State<test::RouteInput, test::RouteCase>>(c);
  state->y.resize(static_cast<size_t>(c.n_routes()));
  state->ids.resize(static_cast<size_t>(c.n_routes()));
  return {
      .call = [state](Rig& r) { state->input.run(r.lane(), state->ids.data(), state->y.data()); }};
}

/// A multiplication with one output: what it costs to make a row what the format multiplies with.
Work prepare_pack(const test::LinearCase& c) {
  const auto state = std::make_shared<State<test::LinearInput, test::LinearCase>>(c);
  state->y.resize(static_cast<size_t>(c.n_outputs()));
  return {.call = [state](Rig& r) { state->input.run(r.lane(), state->y); }};
}

}  // namespace

void add_row_cases(Sizes sizes, std::vector<Case>& cases) {
  const int64_t d = sizes == Sizes::kSmall ? 512 : 4096;
  const auto add = [&](const char* operation, const auto& c, auto prepare) {
    cases.push_back({fmt::format("{}/{}", operation, c.name()),
                     [c, prepare](Rig&, Pool&) { return prepare(c); }});
  };
  add("norm", test::NormCase{.d = d}, prepare_norm);
  add("norm", test::NormCase{.n_groups = d / 128, .d = 128}, prepare_norm);
  add("rope", test::RopeCase{.n_heads = d / 128, .d_head = 128, .d_rotary = 128}, prepare_rope);
  const RouterSpec spec = {
      .n_experts = 128, .n_active = 8, .scoring = Scoring::kSoftmax, .renormalise = true};
  add("route", test::RouteCase{.spec = spec}, prepare_route);
  for (const FormatId format : test::all_formats()) {
    add("pack", test::LinearCase{.format = format, .d_in = d, .d_out = 1}, prepare_pack);
  }
}

}  // namespace ft::bench
