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
void feed_forward(Lane& lane, const FeedForward& block, const TensorView& x, const TensorView& y,
                  bool accumulate);

/// Bytes of the arena that feed_forward() takes at most.
uint64_t scratch_bytes(const FeedForward& block, const StepLimits& limits);

}  // namespace ft
