#include "nn/attention.h"

#include <algorithm>

namespace ft {
namespace {

void normalise(Lane& lane, const GqaSpec& spec, const TensorView& x, const float* weight) {
  if (spec.qk_norm == QkNorm::kNone) return;
  const int64_t d = spec.qk_norm == QkNorm::kHead ? spec.d_head : x.cols;
  lane.ops->norm(lane, {.x = x, .y = x, .weight = weight, .d = d, .eps = spec.eps});
}

}  // namespace

void attend(const Step& step, const GqaLayer& layer, const RopeTable& rope_table,
            const TensorView& x, const TensorView& residual) {
  Lane& lane = step.lane;
  const Ops& ops = *lane.ops;
  const GqaSpec& spec = layer.spec;
  const RowPositions& rows = step.batch.rows;
  const Arena::Scope scope(*lane.arena);
  const TensorView q = scratch(lane, x.rows, spec.n_heads * spec.d_head);
  const TensorView k = scratch(lane, x.rows, spec.n_kv_heads * spec.d_head);
  const TensorView v = scratch(lane, x.rows, spec.n_kv_heads * spec.d_head);
  const LinearArgs projections[] = {{.w = layer.q, .x = x, .y = q, .bias = layer.q_bias},
                                    {.w = layer.k, .x = x, .y = k, .bias = layer.k_bias},
                                    {.w = layer.v, .x = x, .y = v, .bias = layer.v_bias}};
  ops.linear_group(lane, {.parts = projections, .n_parts = 3});
  normalise(lane, spec, q, layer.q_norm);
  normalise(lane, spec, k, layer.k_norm);
  if (spec.clip > 0) {
    for (const TensorView& t : {q, k, v}) ops.clamp(lane, {.x = t, .limit = spec.clip});
  }
  RopeArgs rope = {.x = q,
                   .n_heads = spec.n_heads,
                   .d_head = spec.d_head,
                   .d_rotary = rope_table.spec().d_rotary,
                   .is_interleaved = rope_table.spec().is_interleaved,
                   .cos_sin = rope_table.cos_sin(),
                   .positions = rows.positions};
  ops.rope(lane, rope);
  rope.x = k;
  rope.n_heads = spec.n_kv_heads;
  ops.rope(lane, rope);
  const KvLayer kv = step.kv.layer(layer.index);
  ops.store_kv(lane, {.kv = kv, .rows = rows, .k = k, .v = v});
  ops.attention(lane, {.kv = kv,
                       .rows = rows,
                       .q = q,
                       .out = q,
                       .n_heads = spec.n_heads,
                       .scale = spec.scale,
                       .window = spec.window,
                       .sinks = layer.sinks});
  ops.linear(lane, {.w = layer.o, .x = q, .y = residual, .bias = layer.o_bias, .accumulate = true});
}

uint64_t scratch_bytes(const GqaLayer& layer, const StepLimits& limits) {
  const int64_t d = layer.spec.d_head;
  const uint64_t rows = Arena::bytes_for<float>(limits.n_rows * layer.q.rows) +
                        2 * Arena::bytes_for<float>(limits.n_rows * layer.k.rows);
  return rows + std::max({linear_scratch_bytes(limits.n_rows, layer.q.cols, limits),
                          linear_scratch_bytes(limits.n_rows, layer.o.cols, limits),
                          attention_scratch_bytes(limits, {.n_heads = layer.spec.n_heads,
                                                           .n_kv_heads = layer.spec.n_kv_heads,
                                                           .d_k = d,
                                                           .d_v = d})});
}

}  // namespace ft
