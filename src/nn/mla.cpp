#include "nn/mla.h"

#include <algorithm>

namespace ft {
namespace {

/// [n_rows, n_heads * (d_nope + d_rope)], positions applied.
TensorView queries(const Step& step, const MlaLayer& layer, const RopeArgs& rope,
                   const TensorView& x) {
  Lane& lane = step.lane;
  const MlaSpec& spec = layer.spec;
  const TensorView q = scratch(lane, x.rows, spec.n_heads * (spec.d_nope + spec.d_rope));
  TensorView from = x;
  if (spec.d_q_latent > 0) {
    from = scratch(lane, x.rows, spec.d_q_latent);
    lane.ops->linear(lane, {.w = layer.q_down, .x = x, .y = from, .bias = layer.q_down_bias});
    lane.ops->norm(
        lane,
        {.x = from, .y = from, .weight = layer.q_norm, .d = spec.d_q_latent, .eps = spec.eps});
  }
  lane.ops->linear(lane, {.w = layer.q, .x = from, .y = q});
  RopeArgs args = rope;
  args.x = q;
  args.n_heads = spec.n_heads;
  args.d_head = spec.d_nope + spec.d_rope;
  args.first = spec.d_nope;
  lane.ops->rope(lane, args);
  return q;
}

/// [n_rows, d_latent + d_rope]: the normed latent and the rotated key.
TensorView keys(const Step& step, const MlaLayer& layer, const RopeArgs& rope,
                const TensorView& x) {
  Lane& lane = step.lane;
  const MlaSpec& spec = layer.spec;
  const TensorView k = scratch(lane, x.rows, spec.d_latent + spec.d_rope);
  lane.ops->linear(lane, {.w = layer.kv_down, .x = x, .y = k, .bias = layer.kv_down_bias});
  TensorView latent = k;
  latent.cols = spec.d_latent;
  lane.ops->norm(
      lane,
      {.x = latent, .y = latent, .weight = layer.kv_norm, .d = spec.d_latent, .eps = spec.eps});
  RopeArgs args = rope;
  args.x = k;
  args.n_heads = 1;
  args.d_head = spec.d_latent + spec.d_rope;
  args.first = spec.d_latent;
  lane.ops->rope(lane, args);
  return k;
}

}  // namespace

void attend(const Step& step, const MlaLayer& layer, const RopeTable& rope_table,
            const TensorView& x, const TensorView& residual) {
  Lane& lane = step.lane;
  const Ops& ops = *lane.ops;
  const MlaSpec& spec = layer.spec;
  const RowPositions& rows = step.batch.rows;
  const Arena::Scope scope(*lane.arena);
  const RopeArgs rope = {.d_rotary = spec.d_rope,
                         .is_interleaved = rope_table.spec().is_interleaved,
                         .cos_sin = rope_table.cos_sin(),
                         .positions = rows.positions};
  const TensorView q = queries(step, layer, rope, x);
  const TensorView k = keys(step, layer, rope, x);
  const KvLayer kv = step.kv.layer(layer.index);
  ops.store_kv(lane, {.kv = kv, .rows = rows, .k = k});

  // Each head's query in the space of latents: W_k^T q, then the part with positions.
  const int64_t d_key = spec.d_latent + spec.d_rope;
  const int64_t d_query = spec.d_nope + spec.d_rope;
  const TensorView q_latent = scratch(lane, x.rows, spec.n_heads * d_key);
  HeadLinearArgs head = {.w = layer.kv_up,
                         .n_heads = spec.n_heads,
                         .head_rows = spec.d_nope + spec.d_value,
                         .count = spec.d_nope,
                         .is_transposed = true,
                         .x = q,
                         .x_head = d_query,
                         .y = q_latent,
                         .y_head = d_key};
  ops.head_linear(lane, head);
  ops.copy_heads(lane, {.x = q,
                        .x_head = d_query,
                        .x_first = spec.d_nope,
                        .y = q_latent,
                        .y_head = d_key,
                        .y_first = spec.d_latent,
                        .n_heads = spec.n_heads,
                        .count = spec.d_rope});
  const TensorView mixed = scratch(lane, x.rows, spec.n_heads * spec.d_latent);
  ops.attention(lane, {.kv = kv,
                       .rows = rows,
                       .q = q_latent,
                       .out = mixed,
                       .n_heads = spec.n_heads,
                       .scale = spec.scale});
  const TensorView values = scratch(lane, x.rows, spec.n_heads * spec.d_value);
  head.first = spec.d_nope;
  head.count = spec.d_value;
  head.is_transposed = false;
  head.x = mixed;
  head.x_head = spec.d_latent;
  head.y = values;
  head.y_head = spec.d_value;
  ops.head_linear(lane, head);
  ops.linear(lane,
             {.w = layer.o, .x = values, .y = residual, .bias = layer.o_bias, .accumulate = true});
}

uint64_t scratch_bytes(const MlaLayer& layer, const StepLimits& limits) {
  const MlaSpec& spec = layer.spec;
  const auto rows = [&](int64_t d) { return Arena::bytes_for<float>(limits.n_rows * d); };
  const int64_t d_key = spec.d_latent + spec.d_rope;
  const uint64_t kept = rows(layer.q.rows) + rows(spec.d_q_latent) + rows(d_key) +
                        rows(spec.n_heads * d_key) + rows(spec.n_heads * spec.d_latent) +
                        rows(spec.n_heads * spec.d_value);
  return kept +
         std::max(
             {linear_scratch_bytes(limits.n_rows, layer.kv_down.cols, limits),
              linear_scratch_bytes(limits.n_rows, layer.q.cols, limits),
              linear_scratch_bytes(limits.n_rows, layer.o.cols, limits),
              linear_scratch_bytes(limits.n_rows * spec.n_heads, spec.d_latent, limits),
              attention_scratch_bytes(
                  limits,
                  {.n_heads = spec.n_heads, .n_kv_heads = 1, .d_k = d_key, .d_v = spec.d_latent})});
}

}  // namespace ft
