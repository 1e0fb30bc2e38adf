// MiniMax-M2: norms over all heads at once, partial rotary positions, sigmoid router with a
// selection bias.
#include "models/shared_pieces.h"

namespace ft {

std::unique_ptr<Model> build_minimax_m2(const Checkpoint& checkpoint) {
  DecoderBuilder b(checkpoint);
  b.rope(b.sizes().d_head);
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
