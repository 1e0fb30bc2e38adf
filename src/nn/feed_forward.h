// The gated feed-forward block of dense layers and shared experts.
#pragma once

#include "nn/step.h"
#include "tensor/weight.h"

namespace ft {

struct FeedForward {
  WeightView gate, up;  // [d_hidden, d_model]
  WeightView down;      // [d_model, d_hidden]
  GateSpec spec;
};

/// y = down(activation(gate(x), up(x))), added to y where `accumulate`.
inline void feed_forward(Lane& lane, const FeedForward& block, const TensorView& x,
                         const TensorView& y, bool accumulate) {
  const Arena::Scope scope(*lane.arena);
  const TensorView gate = scratch(lane, x.rows, block.gate.rows);
  const TensorView up = scratch(lane, x.rows, block.up.rows);
  lane.ops->linear(lane, {.w = block.gate, .x = x, .y = gate});
  lane.ops->linear(lane, {.w = block.up, .x = x, .y = up});
  lane.ops->gate(lane, {.spec = block.spec, .gate = gate, .up = up});
  lane.ops->linear(lane, {.w = block.down, .x = gate, .y = y, .accumulate = accumulate});
}

}  // namespace ft
