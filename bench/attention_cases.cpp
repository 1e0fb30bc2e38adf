// Attention over caches of many layers, one after the other: one row at the end of a context, and a
// step of a prompt.
#include <cstring>
#include <memory>

#include "bench/work.h"
#include "tests/cases/attention_case.h"

namespace ft::bench {
namespace {

using State = PooledState<test::AttentionInput>;

Work prepare(const test::AttentionCase& c, Rig& rig, Pool& pool) {
  test::Random random(1);
  const auto state = std::make_shared<State>(c.n_outputs(), random, c);
  std::vector<uint8_t> pages(state->input.kv_bytes());
  rig.ops().store_kv(rig.lane(), state->input.store_args(state->input.kv_in(pages.data())));
  state->n_copies = pool.fill(rig.team(), "attention/" + c.name(), pages, 1);
  const auto call = [state, &pool](Rig& r) {
    const KvLayer kv = state->input.kv_in(pool.copy(state->next));
    state->next = (state->next + 1) % state->n_copies;
    r.ops().attention(r.lane(), state->input.args(kv, state->y));
  };
  return {.bound = bound_of(c.n_rows),
          .read_bytes = static_cast<double>(c.read_bytes()),
          .multiply_adds = c.multiply_adds(),
          .call = call};
}

}  // namespace

void add_attention_cases(Sizes sizes, std::vector<Case>& cases) {
  const bool is_small = sizes == Sizes::kSmall;
  const auto add = [&](int64_t n_rows, int64_t n_context) {
    const test::AttentionCase c = {.n_rows = n_rows,
                                   .n_context = n_context,
                                   .n_kv_heads = is_small ? 2 : 4,
                                   .n_heads = is_small ? 8 : 32,
                                   .d_k = is_small ? 64 : 128,
                                   .d_v = is_small ? 64 : 128,
                                   .scale = 0.09f};
    cases.push_back(
        {"attention/" + c.name(), [c](Rig& rig, Pool& pool) { return prepare(c, rig, pool); }});
  };
  if (is_small) {
    add(1, 300);
    add(16, 300);
    return;
  }
  for (const int64_t n_context : {512, 8192, 32768}) add(1, n_context);
  for (const int64_t n_context : {512, 8192}) add(256, n_context);
}

}  // namespace ft::bench
