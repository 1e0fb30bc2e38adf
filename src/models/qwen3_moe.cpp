// Qwen3-MoE: grouped-query attention with a norm over each head, softmax router, no shared expert.
#include "models/shared_pieces.h"

namespace ft {

std::unique_ptr<Model> build_qwen3_moe(const Checkpoint& checkpoint) {
  DecoderBuilder b(checkpoint);
  const Config& config = b.config();
  const bool has_bias = config.flag({"attention_bias"}, false);
  const bool has_window = config.flag({"use_sliding_window"}, false);
  b.rope(b.sizes().d_head);
  const int64_t d_expert = b.width({"moe_intermediate_size"});
  RouterSpec router = b.router(Scoring::kSoftmax);
  router.renormalise = config.flag({"norm_topk_prob"}, false);
  for (int64_t layer = 0; layer < b.sizes().n_layers; ++layer) {
    const GqaOptions options = {.qkv_bias = has_bias,
                                .o_bias = has_bias,
                                .qk_norm = QkNorm::kHead,
                                .window = b.window(layer, has_window)};
    const std::string block = DecoderBuilder::layer_prefix(layer) + "mlp";
    GqaLayer attention = b.gqa(layer, options);
    if (is_sparse_layer(b, layer)) {
      b.add_layer(layer, attention, MoeBlock{.experts = b.experts(block, router, d_expert)});
    } else {
      b.add_layer(layer, attention, b.feed_forward(block, b.width({"intermediate_size"})));
    }
  }
  return b.finish("qwen3_moe", describe_gqa(b.sizes()));
}

}  // namespace ft
