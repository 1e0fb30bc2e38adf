// Upper bounds of the scratch that operations take from the arena.
#include <algorithm>

#include "kernels/ops.h"

namespace ft {
namespace {

constexpr uint64_t kAlign = 64;
constexpr int64_t kLargestSegment = 32 * 32;  // values; packed rows are padded to whole segments

}  // namespace

uint64_t linear_scratch_bytes(int64_t n_rows, int64_t d_in) {
  const int64_t padded = (d_in + kLargestSegment - 1) / kLargestSegment * kLargestSegment;
  return static_cast<uint64_t>(n_rows * padded) * (sizeof(float) + 1) + 2 * kAlign;
}

uint64_t experts_scratch_bytes(int64_t n_rows, const RouterSpec& spec, const ExpertShape& shape) {
  const int64_t n_routes = n_rows * spec.n_active;
  const auto grouping =
      static_cast<uint64_t>(3 * (spec.n_experts + 1) + 2 * n_routes) * sizeof(int32_t);
  const auto hidden = static_cast<uint64_t>(n_routes * shape.d_expert) * sizeof(float);
  return grouping + hidden + linear_scratch_bytes(n_rows, shape.d_model) +
         linear_scratch_bytes(n_routes, shape.d_expert) + 8 * kAlign;
}

uint64_t attention_scratch_bytes(int64_t n_positions_max, int64_t d_entry, int n_threads) {
  return static_cast<uint64_t>((n_positions_max + d_entry) * n_threads) * sizeof(float) + kAlign;
}

}  // namespace ft
