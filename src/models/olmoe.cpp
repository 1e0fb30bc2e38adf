// OLMoE: norms over all heads of queries and keys at once, optional clipping of projections,
// softmax router.
#include "models/shared_pieces.h"

namespace ft {

std::unique_ptr<Model> build_olmoe(const Checkpoint& checkpoint) {
  DecoderBuilder b(checkpoint);
  const Config& config = b.config();
  b.rope(b.sizes().d_head);
  const int64_t d_expert = b.width({"intermediate_size"});
  const bool has_bias = config.flag({"attention_bias"}, false);
  const auto clip = static_cast<float>(config.number({"clip_qkv"}, 0));
  if (config.has("clip_qkv") && !(clip > 0)) {
    bad_input("{}: clip_qkv is {}, it must be positive, or null for no clipping", config.where(),
              clip);
  }
  RouterSpec router = b.router(Scoring::kSoftmax);
  router.renormalise = config.flag({"norm_topk_prob"}, false);
  for (int64_t layer = 0; layer < b.sizes().n_layers; ++layer) {
    const GqaOptions options = {
        .qkv_bias = has_bias, .o_bias = has_bias, .qk_norm = QkNorm::kAll, .clip = clip};
    const std::string block = DecoderBuilder::layer_prefix(layer) + "mlp";
    GqaLayer attention = b.gqa(layer, options);
    b.add_layer(layer, attention, MoeBlock{.experts = b.experts(block, router, d_expert)});
  }
  return b.finish("olmoe", describe_gqa(b.sizes()));
}

}  // namespace ft
