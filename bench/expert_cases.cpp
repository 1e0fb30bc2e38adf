// The routed experts of a layer out of a bank of many layers: each call takes the next layer, and
// other experts of a layer when it comes round again, so that no cache has seen them lately.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "bench/work.h"
#include "tests/cases/experts_case.h"

namespace ft::bench {
namespace {

using State = PooledState<test::ExpertsInput>;

Work prepare(test::ExpertsCase c, Rig& rig, Pool& pool) {
  test::Random random(1);
  const ExpertLayout layout(c.shape);
  // A bank smaller than a layer is a layer of fewer experts.
  const auto n_fitting = static_cast<int64_t>(pool.size() / layout.record_bytes());
  c.n_experts = std::min(c.n_experts, std::max(n_fitting, c.n_active));
  const auto state = std::make_shared<State>(c.n_outputs(), random, c, 1);
  std::vector<uint8_t>& records = state->input.records;
  records.resize(layout.record_bytes());  // what may be read past the end is not copied
  const std::string key =
      fmt::format("experts/{}/{}x{}", name_of(c.shape.format), c.shape.d_model, c.shape.d_expert);
  state->n_copies = pool.fill(rig.team(), key, records, c.n_experts) / c.n_experts;
  const auto call = [state, &pool](Rig& r) {
    const test::ExpertsCase& t = state->input.test;
    ExpertsArgs args = state->input.args(state->y);
    args.records = pool.copy(state->next % state->n_copies * t.n_experts);
    args.ids = state->input.ids(state->next / state->n_copies * t.n_routes() % t.n_experts);
    ++state->next;
    r.ops().experts(r.lane(), args);
  };
  return {.bound = bound_of(c.n_rows),
          .read_bytes = static_cast<double>(c.read_bytes()),
          .multiply_adds = c.multiply_adds(),
          .partner = partner_of(c.shape.format),
          .call = call};
}

}  // namespace

void add_expert_cases(Sizes sizes, std::vector<Case>& cases) {
  using Shape = std::pair<int64_t, int64_t>;
  const bool is_small = sizes == Sizes::kSmall;
  const std::vector<Shape> shapes =
      is_small ? std::vector<Shape>{{512, 256}}
               : std::vector<Shape>{{2048, 768}, {4096, 2048}, {2880, 2880}};
  const auto make = [&](FormatId format, const Shape& shape, int64_t n_rows) -> Case {
    const test::ExpertsCase c = {
        .shape = {.format = format, .d_model = shape.first, .d_expert = shape.second},
        .n_rows = n_rows,
        .n_experts = is_small ? 4 : 64,
        .n_active = is_small ? 2 : 8};
    return {"experts/" + c.name(), [c](Rig& rig, Pool& pool) { return prepare(c, rig, pool); }};
  };
  for (const FormatId format : test::all_formats()) {
    for (const Shape& shape : shapes) cases.push_back(make(format, shape, 1));
    for (const int64_t n_rows : many_rows(sizes)) {
      cases.push_back(make(format, shapes.front(), n_rows));
    }
  }
  for (const int64_t n_rows : rounded_rows(sizes)) {
    cases.push_back(rounded(make(kIdOf<Bf16>, shapes.front(), n_rows)));
  }
}

}  // namespace ft::bench
