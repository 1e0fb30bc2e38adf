// Grouped-query attention: projections, optional norms, rotary positions, pages, softmax.
#pragma once

#include <cstdint>

#include "nn/rope.h"
#include "nn/step.h"
#include "tensor/weight.h"

namespace ft {

enum class QkNorm : uint8_t {
  kNone,
  kHead,  // over each head
  kAll,   // over all heads of a row at once
};

struct GqaSpec {
  int64_t n_heads = 0;
  int64_t n_kv_heads = 0;
  int64_t d_head = 0;
  int64_t window = 0;  // positions that a row attends to; 0: all
  float scale = 1;     // of the scores
  float clip = 0;      // projections are clamped to it; 0: not
  float eps = 0;
  QkNorm qk_norm = QkNorm::kNone;
};

/// One layer. Biases, norms and sinks are nullptr where a model has none.
struct GqaLayer {
  GqaSpec spec;
  int64_t index = 0;  // of the layer in the KV cache
  WeightView q, k, v, o;
  const float* q_bias = nullptr;
  const float* k_bias = nullptr;
  const float* v_bias = nullptr;
  const float* o_bias = nullptr;
  const float* q_norm = nullptr;
  const float* k_norm = nullptr;
  const float* sinks = nullptr;  // [n_heads]
};

/// residual += attention(x). x: [n_rows, d_model], normed.
void attend(const Step& step, const GqaLayer& layer, const RopeTable& rope, const TensorView& x,
            const TensorView& residual);

/// Bytes of the arena that attend() takes at most.
uint64_t scratch_bytes(const GqaLayer& layer, const StepLimits& limits);

}  // namespace ft
