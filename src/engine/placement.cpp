#include "engine/placement.h"

#include <algorithm>

#include "base/error.h"
#include "base/units.h"

namespace ft {

Placement plan_placement(const Model& model, const PlacementLimits& limits) {
  const ModelCard& card = model.card();
  if (limits.n_context < 0 || limits.n_context > card.n_context) {
    bad_input("a context of {} tokens is not possible: the model's own is {}", limits.n_context,
              card.n_context);
  }
  constexpr int64_t kMostRows = 65536;
  if (limits.n_prefill_rows < 1 || limits.n_prefill_rows > kMostRows) {
    bad_input("{} rows of a prefill step are not possible, only 1 to {}", limits.n_prefill_rows,
              kMostRows);
  }
  Placement p;
  p.n_context = limits.n_context > 0 ? limits.n_context : std::min(card.n_context, kDefaultContext);
  p.n_prefill_rows = std::min(limits.n_prefill_rows, p.n_context);
  p.bank_bytes = model.bank().n_bytes();
  p.dense_bytes = card.dense_bytes;
  const auto n_pages = static_cast<uint64_t>((p.n_context + kPageTokens - 1) / kPageTokens);
  p.kv_bytes = n_pages * kPageTokens * kv_bytes_per_token(card.kv);
  // Logits are made for one row of a step; scoring asks for all rows, a few at a time.
  p.scratch_bytes = model.scratch_bytes(p.n_prefill_rows, p.n_context, limits.n_threads);
  return p;
}

std::string describe(const Placement& p) {
  return fmt::format(
      "{} for experts, {} for the KV cache of {} tokens, {} of scratch: {} to allocate; {} of "
      "dense weights stay "
      "mapped from the file",
      format_bytes(p.bank_bytes), format_bytes(p.kv_bytes), format_count(p.n_context),
      format_bytes(p.scratch_bytes), format_bytes(p.allocated_bytes()),
      format_bytes(p.dense_bytes));
}

void check_fits(const Placement& p, uint64_t available_bytes) {
  if (p.total_bytes() <= available_bytes) return;
  fail(ErrorKind::kOutOfMemory,
       "the model does not fit into memory: {}; that is {} in all, and {} are available; take a "
       "smaller model or a shorter "
       "context (--context), or free memory",
       describe(p), format_bytes(p.total_bytes()), format_bytes(available_bytes));
}

}  // namespace ft
