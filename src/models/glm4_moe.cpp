// GLM-4.5 and later: partial rotary positions, optional norm over each head, sigmoid router with a
// selection bias, groups, and a shared expert; the first layers are dense.
#include "models/shared_pieces.h"

namespace ft {

std::unique_ptr<Model> build_glm4_moe(const Checkpoint& checkpoint) {
  DecoderBuilder b(checkpoint);
  const Config& config = b.config();
  b.rope(b.sizes().d_head, 0.5);
  const RouterSpec router = grouped_sigmoid_router(b);
  const int64_t n_dense = b.size({"first_k_dense_replace"}, 0, b.sizes().n_layers);
  const GqaOptions options = {
      .qkv_bias = config.flag({"attention_bias"}, false),
      .qk_norm = config.flag({"use_qk_norm"}, false) ? QkNorm::kHead : QkNorm::kNone};
  for (int64_t layer = 0; layer < b.sizes().n_layers; ++layer) {
    const std::string block = DecoderBuilder::layer_prefix(layer) + "mlp";
    GqaLayer attention = b.gqa(layer, options);
    if (layer < n_dense) {
      b.add_layer(layer, attention, b.feed_forward(block, b.width({"intermediate_size"})));
    } else {
      b.add_layer(layer, attention, grouped_sigmoid_block(b, block, router));
    }
  }
  return b.finish("glm4_moe", describe_gqa(b.sizes()), b.size_or({"n_shared_experts"}, 0, 1024, 0));
}

}  // namespace ft
