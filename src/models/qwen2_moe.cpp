// Qwen2-MoE: biased projections, softmax router, a shared expert behind a sigmoid gate.
#include "models/shared_pieces.h"

namespace ft {

std::unique_ptr<Model> build_qwen2_moe(const Checkpoint& checkpoint) {
  DecoderBuilder b(checkpoint);
  const Config& config = b.config();
  b.rope(b.sizes().d_head);
  const int64_t d_expert = b.width({"moe_intermediate_size"});
  const int64_t d_shared = b.width({"shared_expert_intermediate_size"});
  const bool has_window = config.flag({"use_sliding_window"}, false);
  // Windows are for the layers from this one on, where no layer_types say it for each.
  const int64_t first_window =
      has_window && !config.has("layer_types") ? b.size({"max_window_layers"}, 0, 1 << 20) : 0;
  RouterSpec router = b.router(Scoring::kSoftmax);
  router.renormalise = config.flag({"norm_topk_prob"}, false);
  for (int64_t layer = 0; layer < b.sizes().n_layers; ++layer) {
    const GqaOptions options = {.qkv_bias = config.flag({"qkv_bias"}, true),
                                .window = b.window(layer, has_window && layer >= first_window)};
    const std::string block = DecoderBuilder::layer_prefix(layer) + "mlp";
    GqaLayer attention = b.gqa(layer, options);
    if (is_sparse_layer(b, layer)) {
      b.add_layer(layer, attention,
                  MoeBlock{.experts = b.experts(block, router, d_expert),
                           .shared = b.feed_forward(block + ".shared_expert", d_shared),
                           .shared_gate = b.weights().dense(block + ".shared_expert_gate", 1,
                                                            b.sizes().d_model)});
    } else {
      b.add_layer(layer, attention, b.feed_forward(block, b.width({"intermediate_size"})));
    }
  }
  return b.finish("qwen2_moe", describe_gqa(b.sizes()), 1);
}

}  // namespace ft
