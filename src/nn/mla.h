// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): one small latent a position instead
// of keys and values. The projections from the latent are applied to queries and results, so that
// attention reads latents only.
#pragma once

#include <cstdint>

#include "nn/rope.h"
#include "nn/step.h"
#include "tensor/weight.h"

namespace ft {

struct MlaSpec {
  int64_t n_heads = 0;
  int64_t d_nope = 0;      // of a query head, without positions
  int64_t d_rope = 0;      // of a query head, and of the one key, with positions
  int64_t d_value = 0;     // of a head's result
  int64_t d_latent = 0;    // kv_lora_rank
  int64_t d_q_latent = 0;  // q_lora_rank; 0: queries are projected directly
  float scale = 1;
  float eps = 0;
};

struct MlaLayer {
  MlaSpec spec;
  int64_t index = 0;
  WeightView q_down;  // [d_q_latent, d_model]; unused without a query latent
  const float* q_down_bias = nullptr;
  const float* q_norm = nullptr;  // [d_q_latent]
  WeightView q;                   // [n_heads * (d_nope + d_rope), d_q_latent or d_model]
  WeightView kv_down;             // [d_latent + d_rope, d_model]
  const float* kv_down_bias = nullptr;
  const float* kv_norm = nullptr;  // [d_latent]
  WeightView kv_up;                // [n_heads * (d_nope + d_value), d_latent]
  WeightView o;                    // [d_model, n_heads * d_value]
  const float* o_bias = nullptr;
};

/// residual += attention(x). The cache holds one key a position: the normed latent, then the
/// rotated key; its first d_latent numbers are the value.
void attend(const Step& step, const MlaLayer& layer, const RopeTable& rope, const TensorView& x,
            const TensorView& residual);

/// Bytes of the arena that attend() takes at most.
uint64_t scratch_bytes(const MlaLayer& layer, const StepLimits& limits);

}  // namespace ft
