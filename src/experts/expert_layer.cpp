#include "experts/expert_layer.h"

#include <algorithm>

namespace ft {
ExpertWork begin_experts(Lane& lane, const ExpertLayer& layer, const ExpertBank& bank,
                         const TensorView& x) {
  const int64_t n_active = layer.spec.n_active;
  ExpertWork work;
  work.routing = {.n_rows = x.rows,
                  .n_active = n_active,
                  .ids = lane.arena->alloc<int32_t>(x.rows * n_active),
                  .weights = lane.arena->alloc<float>(x.rows * n_active)};
  work.results = scratch(lane, x.rows * n_active, x.cols);
  const TensorView logits = scratch(lane, x.rows, layer.spec.n_experts);
  lane.ops->linear(
      lane, {.w = layer.router, .x = x, .y = logits, .bias = layer.router_bias, .keeps_x = true});
  lane.ops->route(lane, {.spec = layer.spec,
                         .logits = logits,
                         .bias = layer.selection_bias,
                         .ids = work.routing.ids,
                         .weights = work.routing.weights});
  lane.ops->experts(lane, {.layout = &bank.layout(),
                           .records = bank.layer(layer.index),
                           .n_experts = layer.spec.n_experts,
                           .gate = layer.gate,
                           .x = x,
                           .ids = work.routing.ids,
                           .n_active = n_active,
                           .results = work.results});
  return work;
}

void finish_experts(Lane& lane, const ExpertWork& work, const TensorView& y) {
  lane.ops->combine(lane, {.y = y,
                           .results = work.results,
                           .weights = work.routing.weights,
                           .n_active = work.routing.n_active});
}

uint64_t scratch_bytes(const ExpertLayer& layer, const ExpertBank& bank, const StepLimits& limits) {
  const RouterSpec& spec = layer.spec;
  const int64_t d_model = layer.router.cols;
  const int64_t n_routes = limits.n_rows * spec.n_active;
  const uint64_t kept = Arena::bytes_for<int32_t>(n_routes) + Arena::bytes_for<float>(n_routes) +
                        Arena::bytes_for<float>(n_routes * d_model) +
                        Arena::bytes_for<float>(limits.n_rows * spec.n_experts);
  return kept + std::max({linear_scratch_bytes(limits.n_rows, d_model, limits),
                          route_scratch_bytes(spec.n_experts, limits.n_threads),
                          experts_scratch_bytes(limits, spec, bank.layout().shape())});
}

}  // namespace ft
