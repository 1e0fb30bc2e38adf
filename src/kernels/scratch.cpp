// Scratch that operations take from the arena, and upper bounds of it.
#include <algorithm>

#include "kernels/attention_cut.h"
#include "kernels/lane.h"
#include "kernels/ops.h"

namespace ft {
namespace {

/// Values of the largest segment of a format: packed rows are padded to whole segments.
template <size_t... kIndices>
constexpr int64_t largest_segment(std::index_sequence<kIndices...>) {
  return std::max({std::tuple_element_t<kIndices, Formats>::kChunkValues * kPartials...});
}

/// Rows in groups, each as long as a row of bf16, or shorter.
uint64_t groups_bytes(int64_t n_rows, int64_t d_in, const StepLimits& limits) {
  if (limits.n_group_rows == 1) return 0;
  const auto unit = static_cast<uint64_t>(limits.n_group_rows);
  const auto rows = static_cast<int64_t>(round_up(static_cast<uint64_t>(n_rows), unit));
  return Arena::bytes_for<uint8_t>(rows * 2 * (d_in + 32));
}

}  // namespace

TensorView scratch(Lane& lane, int64_t rows, int64_t cols) {
  return {
      .data = lane.arena->alloc<float>(rows * cols), .rows = rows, .cols = cols, .stride = cols};
}

uint64_t linear_scratch_bytes(int64_t n_rows, int64_t d_in, const StepLimits& limits) {
  constexpr auto kSegment =
      static_cast<uint64_t>(largest_segment(std::make_index_sequence<kFormats>()));
  const auto padded = static_cast<int64_t>(round_up(static_cast<uint64_t>(d_in), kSegment));
  constexpr int64_t kLine = 64 / sizeof(float);  // between rows
  // Float rows, or quants and scales, which are fewer than the values.
  const uint64_t packed =
      Arena::bytes_for<float>(n_rows * (padded + kLine)) + groups_bytes(n_rows, d_in, limits);
  if (n_rows == 1) return packed;
  // Rows of weights that each member decodes: eight of floats, with a scale for each chunk; sixteen of
  // bytes are fewer.
  return packed + Arena::bytes_for<float>(limits.n_threads * 8 * (padded + padded / 8 + kLine));
}

uint64_t route_scratch_bytes(int64_t n_experts, int n_threads) {
  return Arena::bytes_for<float>(3 * n_experts * n_threads) +
         Arena::bytes_for<int32_t>(n_experts * n_threads) +
         Arena::bytes_for<uint8_t>(n_experts * n_threads);
}

uint64_t experts_scratch_bytes(const StepLimits& limits, const RouterSpec& spec,
                               const ExpertShape& shape) {
  const int64_t n_routes = limits.n_rows * spec.n_active;
  const int64_t n_places =
      n_routes + std::min(n_routes, spec.n_experts) * (limits.n_group_rows - 1);
  const uint64_t grouping = Arena::bytes_for<int32_t>(spec.n_experts + 1) +
                            2 * Arena::bytes_for<int32_t>(n_places) +
                            2 * Arena::bytes_for<int32_t>(spec.n_experts);
  return grouping + 2 * Arena::bytes_for<float>(n_places * shape.d_expert) +
         groups_bytes(n_places, shape.d_model, limits) +
         linear_scratch_bytes(limits.n_rows, shape.d_model, limits) +
         linear_scratch_bytes(n_places, shape.d_expert, limits);
}

uint64_t attention_scratch_bytes(const StepLimits& limits, const AttentionShape& shape) {
  const int64_t n_blocks = n_blocks_of(limits.n_context);
  const auto row = static_cast<int64_t>(
      Arena::bytes_for<float>(split_row_floats(shape, limits.n_threads > 1 ? n_blocks : 0)));
  const int64_t split = std::min(limits.n_rows * row, std::max(kMostSplitBytes, row));
  return Arena::bytes_for<float>(workspace_floats(shape, limits.n_rows) * limits.n_threads) +
         Arena::bytes_for<int32_t>(limits.n_rows + 1) +
         (n_blocks > 1 ? static_cast<uint64_t>(split) : 0);
}

}  // namespace ft
