// MiniMax-M2: norms over all heads at once, partial rotary positions, sigmoid router with a
// selection bias.
#include "models/shared_pieces.h"

namespace ft {

std::unique_ptr<Model> build_minimax_m2(const Checkpoint& checkpoint) {
  DecoderBuilder b(checkpoint);
  b.rope(b.sizes().d_head);
  const Config& config = b.config();
  require_choice(config, "scoring_func", "sigmoid");
  require_choice(config, "qk_norm_type", "per_layer");
  require_flag(config, "use_qk_norm");
  require_flag(config, "use_routing_bias");
  for (const int64_t type : config.integers({"attn_type_list"})) {
    if (type != 1)
      unsupported("{}: attn_type_list has {}, only 1, softmax attention, is supported",
                  config.where(), type);
  }
  if (b.size_or({"shared_intermediate_size"}, 0, DecoderBuilder::kMostWidth, 0) != 0) {
    unsupported("{}: shared_intermediate_size: shared experts are not supported here",
                config.where());
  }
  const int64_t d_expert = b.width({"intermediate_size"});
  RouterSpec router = b.router(Scoring::kSigmoid);
  router.renormalise = true;
  for (int64_t layer = 0; layer < b.sizes().n_layers; ++layer) {
    const std::string block = DecoderBuilder::layer_prefix(layer) + "block_sparse_moe";
    GqaLayer attention = b.gqa(layer, {.qk_norm = QkNorm::kAll});
    MoeBlock moe = {
        .experts = b.experts(block, router, d_expert, {.gate = "w1", .up = "w3", .down = "w2"})};
    moe.experts.selection_bias =
        b.weights().vector(block + ".e_score_correction_bias", router.n_experts);
    b.add_layer(layer, attention, moe);
  }
  return b.finish("minimax_m2", describe_gqa(b.sizes()));
}

}  // namespace ft
