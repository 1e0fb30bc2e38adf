#include "engine/placement.h"

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"
#include "base/units.h"

namespace ft {
namespace {

constexpr int64_t kMostPrefillRows = 65536;
constexpr uint64_t kMostLogitsBytes = 64 << 20;  // scoring takes as many rows a step as fit in here
constexpr uint64_t kMostBytes = uint64_t{1} << 60;

/// A product of sizes that a file declares.
uint64_t product(uint64_t a, uint64_t b, std::string_view what) {
  const std::optional<uint64_t> bytes = checked_mul(a, b);
  if (bytes && *bytes <= kMostBytes) return *bytes;
  fail(ErrorKind::kOutOfMemory, "{} would take more than 2^60 bytes ({} times {})", what, a, b);
}

int64_t context_of(const ModelCard& card, int64_t wanted) {
  if (wanted < 0 || wanted > card.n_context) {
    bad_input("a context of {} tokens is not possible: the model's own is {}", wanted,
              card.n_context);
  }
  return wanted > 0 ? wanted : std::min(card.n_context, kDefaultContext);
}

void check_rows(const ModelCard& card, int64_t n_rows, int64_t n_group_rows) {
  if (n_rows < 1 || n_rows > kMostPrefillRows) {
    bad_input("{} rows of a prefill step are not possible, only 1 to {}", n_rows, kMostPrefillRows);
  }
  // Places of routes have 32 bits, and each expert's begin with a group.
  const int64_t n_places =
      n_rows * card.router.n_active + card.router.n_experts * (n_group_rows - 1);
  if (n_places > INT32_MAX) {
    bad_input("{} rows of a prefill step with {} experts each are too many; take fewer rows",
              n_rows, card.router.n_active);
  }
}

}  // namespace

Placement plan_placement(const Model& model, const PlacementLimits& limits) {
  const ModelCard& card = model.card();
  check_rows(card, limits.n_prefill_rows, limits.n_group_rows);
  Placement p;
  p.n_context = context_of(card, limits.n_context);
  p.n_prefill_rows = std::min(limits.n_prefill_rows, p.n_context);
  p.n_pages = pages_for(p.n_context);
  p.kv = card.kv;
  p.kv.dtype = limits.kv_dtype;
  p.bank_bytes = model.bank().n_bytes();
  p.dense_bytes = card.dense_bytes - (limits.is_dense_mapped ? card.idle_bytes : 0);
  p.q8_bytes = model.dense_bank().n_bytes();
  p.is_dense_mapped = limits.is_dense_mapped;
  p.kv_bytes = product(static_cast<uint64_t>(p.n_pages * kPageTokens), kv_bytes_per_token(p.kv),
                       "the KV cache");
  const uint64_t row_bytes = sizeof(float) * static_cast<uint64_t>(card.n_vocab);
  p.n_logit_rows =
      std::clamp<int64_t>(static_cast<int64_t>(kMostLogitsBytes / row_bytes), 1, p.n_prefill_rows);
  p.logits_bytes = static_cast<uint64_t>(p.n_logit_rows) * row_bytes;
  p.copied_bytes = model.weights().copied_bytes();
  p.table_bytes = model.table_bytes(p.n_context);
  p.scratch_bytes = model.scratch_bytes({.n_rows = p.n_prefill_rows,
                                         .n_context = p.n_context,
                                         .n_threads = limits.n_threads,
                                         .n_group_rows = limits.n_group_rows});
  return p;
}

std::string describe(const Placement& p) {
  const uint64_t own_dense_bytes = p.is_dense_mapped ? 0 : p.dense_bytes;
  const std::string q8 =
      p.q8_bytes > 0 ? format_bytes(p.q8_bytes) + " for dense weights in q8, " : "";
  const std::string parts = fmt::format(
      "{} for experts, {}{} for the KV cache of {} tokens, {} of scratch",
      format_bytes(p.bank_bytes), q8, format_bytes(p.kv_bytes), format_count(p.n_context),
      format_bytes(p.allocated_bytes() - p.bank_bytes - p.q8_bytes - p.kv_bytes - own_dense_bytes));
  const std::string sum = format_bytes(p.allocated_bytes());
  const std::string dense = format_bytes(p.dense_bytes);
  if (p.is_dense_mapped) {
    return fmt::format("{}: {} to allocate; {} of dense weights stay mapped from the file", parts,
                       sum, dense);
  }
  return fmt::format("{}, {} for dense weights: {} to allocate; all weights are made up", parts,
                     dense, sum);
}

void check_fits(const Placement& p, uint64_t available_bytes) {
  if (p.total_bytes() <= available_bytes) return;
  fail(ErrorKind::kOutOfMemory,
       "the model does not fit into memory: {}; that is {} in all, and {} are available; take a "
       "smaller model or a shorter context (--context), or free memory",
       describe(p), format_bytes(p.total_bytes()), format_bytes(available_bytes));
}

}  // namespace ft
