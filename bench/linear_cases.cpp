// Dense multiplications out of a pool of equal matrices, one after the other.
#include <array>
#include <memory>
#include <utility>

#include "bench/work.h"
#include "tests/cases/linear_case.h"

namespace ft::bench {
namespace {

constexpr uint64_t kAlign = 64;

/// Codes, then scales.
std::vector<uint8_t> packed(const test::RandomMatrix& w) {
  const uint64_t codes = static_cast<uint64_t>(w.view.rows * w.view.row_bytes);
  const auto scales =
      static_cast<uint64_t>(scale_rows_of(w.view.format, w.view.rows) * w.view.scale_row_bytes);
  std::vector<uint8_t> bytes(round_up(codes, kAlign) + scales);
  std::copy_n(w.codes.begin(), codes, bytes.begin());
  std::copy_n(w.scales.begin(), scales,
              bytes.begin() + static_cast<int64_t>(round_up(codes, kAlign)));
  return bytes;
}

using State = PooledState<test::LinearInput>;

Work prepare(const test::LinearCase& c, Rig& rig, Pool& pool) {
  test::Random random(1);
  const auto state = std::make_shared<State>(c.n_outputs(), random, c, test::RowGaps::kNone);
  state->n_copies = pool.fill(rig.team(), "linear/" + c.name(), packed(state->input.w), 1);
  const auto call = [state, &pool](Rig& r) {
    LinearArgs args = state->input.args(state->y);
    args.w.codes = pool.copy(state->next);
    args.w.scales =
        args.w.codes + round_up(static_cast<uint64_t>(args.w.rows * args.w.row_bytes), kAlign);
    state->next = (state->next + 1) % state->n_copies;
    r.ops().linear(r.lane(), args);
  };
  return {.bound = bound_of(c.n_rows),
          .read_bytes = static_cast<double>(c.read_bytes()),
          .multiply_adds = c.multiply_adds(),
          .partner = partner_of(c.format),
          .call = call};
}

}  // namespace

void add_linear_cases(Sizes sizes, std::vector<Case>& cases) {
  const bool is_small = sizes == Sizes::kSmall;
  const int64_t d_gemv = is_small ? 512 : 4096;
  const int64_t d_many = is_small ? 256 : 2048;
  const auto make = [](const test::LinearCase& c) -> Case {
    return {"linear/" + c.name(), [c](Rig& rig, Pool& pool) { return prepare(c, rig, pool); }};
  };
  const auto many = [&](FormatId format, int64_t n_rows) {
    return make({.format = format, .n_rows = n_rows, .d_in = d_many, .d_out = d_many});
  };
  for (const FormatId format : test::all_formats()) {
    cases.push_back(make({.format = format, .n_rows = 1, .d_in = d_gemv, .d_out = d_gemv}));
    for (const int64_t n_rows : many_rows(sizes)) cases.push_back(many(format, n_rows));
  }
  for (const int64_t n_rows : rounded_rows(sizes)) {
    cases.push_back(rounded(many(kIdOf<Bf16>, n_rows)));
  }
}

}  // namespace ft::bench
