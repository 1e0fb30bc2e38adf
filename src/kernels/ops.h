// The table of all that a device can compute. Each operation takes its arguments as one struct,
// filled by name, and does its work on the lane's threads before it returns (a GPU's table enqueues
// instead). Rows of a matrix are `stride` floats apart. Every operation has one fixed order of
// arithmetic, so all instruction sets give the same bits, except where a lane may round
// (docs/FORMATS.md).
#pragma once

#include <cstdint>

#include "kernels/kv_layer.h"
#include "kernels/lane.h"
#include "tensor/expert_record.h"
#include "tensor/weight.h"

namespace ft {

/// y[r] = row tokens[r] of the table, as float32. y: [n_rows, table.cols]
struct EmbedArgs {
  WeightView table = {};
  const int32_t* tokens = nullptr;
  TensorView y = {};
};

/// y[r, n] (+)= sum_k w[n, k] x[r, k] + bias[n].  x: [n_rows, w.cols], y: [n_rows, w.rows]
/// keeps_x: x is not rounded, whatever the lane may: what it decides should not depend on the machine.
struct LinearArgs {
  WeightView w = {};
  TensorView x = {};
  TensorView y = {};
  const float* bias = nullptr;
  bool accumulate = false;
  bool keeps_x = false;
};

/// Several multiplications of the same x, all with its columns and one keeps_x: x is packed once for
/// those of one format, and their rows are handed out together.
struct LinearGroupArgs {
  const LinearArgs* parts = nullptr;
  int n_parts = 0;
};

/// For each head h, with the rows [h * head_rows + first, ... + count) of w as its matrix W_h:
/// plain: y[r, h, n] = sum_c W_h[n, c] x[r, h, c]; transposed: y[r, h, c] = sum_n W_h[n, c] x[r, h,
/// n]. x and y hold n_heads pieces a row, x_head and y_head floats apart.
struct HeadLinearArgs {
  WeightView w = {};
  int64_t n_heads = 0;
  int64_t head_rows = 0;
  int64_t first = 0;
  int64_t count = 0;
  bool is_transposed = false;
  TensorView x = {};
  int64_t x_head = 0;
  TensorView y = {};
  int64_t y_head = 0;
};

/// y = x / sqrt(mean(x^2) + eps) * weight, over each of the groups of `d` values that a row
/// consists of. x and y may be the same.
struct NormArgs {
  TensorView x = {};
  TensorView y = {};
  const float* weight = nullptr;  // [d]
  int64_t d = 0;
  float eps = 0;
};

/// Rotates the first d_rotary values of each head in place by the angles of the row's position.
struct RopeArgs {
  TensorView x = {};  // [n_rows, n_heads * d_head]
  int64_t n_heads = 0;
  int64_t d_head = 0;
  int64_t first = 0;  // of the rotary values within a head
  int64_t d_rotary = 0;
  bool is_interleaved = false;  // pairs (0, 1), (2, 3), ... instead of (0, d/2), (1, d/2 + 1), ...
  const float* cos_sin = nullptr;  // [n_positions, d_rotary]: cosines of all pairs, then sines
  const int32_t* positions = nullptr;
};

/// The rows of a step, as attention sees them.
struct RowPositions {
  int64_t n_rows = 0;
  const int32_t* positions = nullptr;  // [n_rows]
  // [n_rows] -> page of each kPageTokens positions of that row's sequence
  const int32_t* const* page_tables = nullptr;
  int64_t n_positions_max = 0;  // largest position + 1
};

struct StoreKvArgs {
  KvLayer kv = {};
  RowPositions rows = {};
  TensorView k = {};  // [n_rows, n_kv_heads * d_k]
  TensorView v = {};  // [n_rows, n_kv_heads * d_v]; unused where values are in keys
};

/// out[r, h] = sum_t softmax_t(scale * q[r, h] . k[t, h']) v[t, h'] over positions t <=
/// position(r), the last `window` of them.
struct AttentionArgs {
  KvLayer kv = {};
  RowPositions rows = {};
  TensorView q = {};    // [n_rows, n_heads * d_k]
  TensorView out = {};  // [n_rows, n_heads * d_v]; may be q where d_v = d_k: a head reads first
  int64_t n_heads = 0;
  float scale = 1;
  int64_t window = 0;            // 0: all
  const float* sinks = nullptr;  // [n_heads]: one more score without a value, or nullptr
};

enum class Scoring : uint8_t {
  kSoftmax,          // softmax over all experts, then choose
  kSoftmaxOfChosen,  // choose by logit, then softmax over the chosen
  kSigmoid,          // sigmoid of each logit
};

/// How a router turns logits into experts and weights.
struct RouterSpec {
  int64_t n_experts = 0;
  int64_t n_active = 0;
  Scoring scoring = Scoring::kSoftmax;
  int64_t n_groups = 1;  // experts are chosen from the best groups only
  int64_t n_active_groups = 1;
  bool renormalise = false;   // weights of the chosen sum to one
  float renormalise_eps = 0;  // added to their sum
  float scale = 1;
};

/// For each row the n_active best experts, best first, ties to the lower id; `bias` takes part in
/// the choice only.
struct RouteArgs {
  RouterSpec spec = {};
  TensorView logits = {};       // [n_rows, n_experts]
  const float* bias = nullptr;  // [n_experts] or nullptr
  int32_t* ids = nullptr;       // [n_rows, n_active]
  float* weights = nullptr;     // [n_rows, n_active]
};

enum class Activation : uint8_t {
  kSilu,           // silu(g) * u
  kClampedSwiglu,  // g = min(g, limit), u = clamp(u, limit): g * sigmoid(alpha * g) * (u + 1)
};

struct GateSpec {
  Activation activation = Activation::kSilu;
  float alpha = 1;
  float limit = 0;
};

/// gate = activation(gate, up), in place.
struct GateArgs {
  GateSpec spec = {};
  TensorView gate = {};
  TensorView up = {};
};

/// The experts that the host computes: results[r, i] = expert ids[r, i] applied to x[r]. Routes
/// with id < 0 are somebody else's.
struct ExpertsArgs {
  const ExpertLayout* layout = nullptr;
  const uint8_t* records = nullptr;  // of this layer, record_bytes apart
  int64_t n_experts = 0;
  GateSpec gate = {};
  TensorView x = {};             // [n_rows, d_model]
  const int32_t* ids = nullptr;  // [n_rows, n_active]
  int64_t n_active = 0;
  TensorView results = {};  // [n_rows * n_active, d_model]
};

/// y[r] += sum_i weights[r, i] * results[r, i], in route order.
struct CombineArgs {
  TensorView y = {};               // [n_rows, d_model]
  TensorView results = {};         // [n_rows * n_active, d_model]
  const float* weights = nullptr;  // [n_rows, n_active]
  int64_t n_active = 0;
};

/// y[r] += sigmoid(gate[r]) * x[r], or y += x where gate is empty.
struct AddArgs {
  TensorView y = {};
  TensorView x = {};
  TensorView gate = {};  // [n_rows, 1] or empty
};

/// `count` values from x_first of each head of x to y_first of each head of y.
struct CopyHeadsArgs {
  TensorView x = {};
  int64_t x_head = 0;  // values between heads
  int64_t x_first = 0;
  TensorView y = {};
  int64_t y_head = 0;
  int64_t y_first = 0;
  int64_t n_heads = 0;
  int64_t count = 0;
};

/// x = min(max(x, -limit), limit), in place.
struct ClampArgs {
  TensorView x = {};
  float limit = 0;
};

struct Ops {
  const char* name = nullptr;
  bool decodes = false;      // weights for many rows, from Crossovers::Rows::decoded on
  bool has_tiles = false;    // for many rows, from Crossovers::Rows::tiles on
  int64_t n_group_rows = 1;  // rows of activations that some of its kernels take together
  void (*embed)(Lane&, const EmbedArgs&) = nullptr;
  void (*linear)(Lane&, const LinearArgs&) = nullptr;
  void (*linear_group)(Lane&, const LinearGroupArgs&) = nullptr;
  void (*head_linear)(Lane&, const HeadLinearArgs&) = nullptr;
  void (*norm)(Lane&, const NormArgs&) = nullptr;
  void (*rope)(Lane&, const RopeArgs&) = nullptr;
  void (*store_kv)(Lane&, const StoreKvArgs&) = nullptr;
  void (*attention)(Lane&, const AttentionArgs&) = nullptr;
  void (*route)(Lane&, const RouteArgs&) = nullptr;
  void (*gate)(Lane&, const GateArgs&) = nullptr;
  void (*experts)(Lane&, const ExpertsArgs&) = nullptr;
  void (*combine)(Lane&, const CombineArgs&) = nullptr;
  void (*add)(Lane&, const AddArgs&) = nullptr;
  void (*clamp)(Lane&, const ClampArgs&) = nullptr;
  void (*copy_heads)(Lane&, const CopyHeadsArgs&) = nullptr;
};

/// The largest step that will be run.
struct StepLimits {
  int64_t n_rows = 0;
  int64_t n_context = 0;  // largest position + 1
  int n_threads = 0;
  int64_t n_group_rows = 1;  // of the table that runs it
};

/// The sizes of an attention, as its scratch depends on them.
struct AttentionShape {
  int64_t n_heads = 0;
  int64_t n_kv_heads = 0;
  int64_t d_k = 0;
  int64_t d_v = 0;
};

/// Bytes of scratch that an operation takes from the arena: an upper bound over all tables with
/// limits.n_group_rows. A head_linear over n_heads counts as n_rows * n_heads rows.
uint64_t linear_scratch_bytes(int64_t n_rows, int64_t d_in, const StepLimits& limits);
uint64_t route_scratch_bytes(int64_t n_experts, int n_threads);
uint64_t experts_scratch_bytes(const StepLimits& limits, const RouterSpec& spec,
                               const ExpertShape& shape);
uint64_t attention_scratch_bytes(const StepLimits& limits, const AttentionShape& shape);

}  // namespace ft
