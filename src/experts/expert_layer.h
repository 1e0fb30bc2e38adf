// The routed experts of one layer: begin_experts() routes and sets the work going, finish_experts()
// collects. What the model computes meanwhile (a shared expert) stands between the two.
#pragma once

#include "experts/expert_bank.h"
#include "experts/routing.h"
#include "kernels/lane.h"
#include "kernels/ops.h"

namespace ft {

struct ExpertLayer {
  RouterSpec spec;
  GateSpec gate;
  WeightView router;                      // [n_experts, d_model]
  const float* router_bias = nullptr;     // [n_experts], added to the logits
  const float* selection_bias = nullptr;  // [n_experts], takes part in the choice only
  int64_t index = 0;                      // among the layers with experts
};

/// Work under way; lives in the lane's arena.
struct ExpertWork {
  Routing routing;
  TensorView results;  // [n_rows * n_active, d_model]
};

/// x: [n_rows, d_model], normed.
ExpertWork begin_experts(Lane& lane, const ExpertLayer& layer, const ExpertBank& bank,
                         const TensorView& x);

/// y += the weighted results, in route order.
void finish_experts(Lane& lane, const ExpertWork& work, const TensorView& y);

/// Bytes of the arena that begin_experts() takes at most.
uint64_t scratch_bytes(const ExpertLayer& layer, const ExpertBank& bank, const StepLimits& limits);

}  // namespace ft
