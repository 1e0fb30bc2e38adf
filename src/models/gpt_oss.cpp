// gpt-oss: attention sinks, sliding window on alternate layers, biases everywhere, a clamped
// swiglu; all experts of a layer lie in one tensor, gate and up rows in turn.
#include "models/shared_pieces.h"

namespace ft {
namespace {

ExpertSource expert(Weights& weights, const std::string& prefix, int64_t n_experts, int64_t e,
                    const ExpertShape& shape) {
  const int64_t d = shape.d_model;
  const int64_t f = shape.d_expert;
  const auto rows = [&](int64_t n_rows, int64_t first, int64_t step) {
    return StackedRows{.n_experts = n_experts,
                       .expert = e,
                       .n_rows = n_rows,
                       .first_row = first,
                       .row_step = step};
  };
  const std::string gate_up = prefix + "experts.gate_up_proj";
  return {.gate = weights.stacked_expert(gate_up, rows(2 * f, 0, 2), f, d),
          .up = weights.stacked_expert(gate_up, rows(2 * f, 1, 2), f, d),
          .down = weights.stacked_expert(prefix + "experts.down_proj", rows(d, 0, 1), d, f)};
}

}  // namespace

std::unique_ptr<Model> build_gpt_oss(const Checkpoint& checkpoint) {
  DecoderBuilder b(checkpoint);
  const Config& config = b.config();
  b.rope(b.sizes().d_head);
  const RouterSpec router = b.router(Scoring::kSoftmaxOfChosen);
  const bool has_bias = config.flag({"attention_bias"}, true);
  const ExpertShape shape = {.d_model = b.sizes().d_model,
                             .d_expert = b.width({"intermediate_size"})};
  const auto limit = static_cast<float>(config.number({"swiglu_limit"}, 7));
  if (!(limit > 0)) bad_input("{}: swiglu_limit is {}, it must be positive", config.where(), limit);
  for (int64_t layer = 0; layer < b.sizes().n_layers; ++layer) {
    const std::string prefix = DecoderBuilder::layer_prefix(layer) + "mlp.";
    const GqaOptions options = {.qkv_bias = has_bias,
                                .o_bias = has_bias,
                                .has_sinks = true,
                                .window = b.window(layer, layer % 2 == 0)};
    GqaLayer attention = b.gqa(layer, options);
    ExpertLayer experts = b.experts_from(prefix + "router", router, [&](int64_t e) {
      return expert(b.weights(), prefix, router.n_experts, e, shape);
    });
    experts.router_bias = b.weights().vector(prefix + "router.bias", router.n_experts);
    experts.gate = {.activation = Activation::kClampedSwiglu, .alpha = 1.702f, .limit = limit};
    b.add_layer(layer, attention, MoeBlock{.experts = experts});
  }
  return b.finish("gpt_oss", describe_gqa(b.sizes()) + ", sinks, sliding window");
}

}  // namespace ft
