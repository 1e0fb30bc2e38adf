#include "nn/feed_forward.h"

#include <algorithm>

namespace ft {

void feed_forward(Lane& lane, const FeedForward& block, const TensorView& x, const TensorView& y,
                  bool accumulate) {
  const Arena::Scope scope(*lane.arena);
  const TensorView gate = scratch(lane, x.rows, block.gate.rows);
  const TensorView up = scratch(lane, x.rows, block.up.rows);
  const LinearArgs inputs[] = {{.w = block.gate, .x = x, .y = gate},
                               {.w = block.up, .x = x, .y = up}};
  lane.ops->linear_group(lane, {.parts = inputs, .n_parts = 2});
  lane.ops->gate(lane, {.spec = block.spec, .gate = gate, .up = up});
  lane.ops->linear(lane, {.w = block.down, .x = gate, .y = y, .accumulate = accumulate});
}

uint64_t scratch_bytes(const FeedForward& block, const StepLimits& limits) {
  return 2 * Arena::bytes_for<float>(limits.n_rows * block.gate.rows) +
         std::max(linear_scratch_bytes(limits.n_rows, block.gate.cols, limits),
                  linear_scratch_bytes(limits.n_rows, block.down.cols, limits));
}

}  // namespace ft
