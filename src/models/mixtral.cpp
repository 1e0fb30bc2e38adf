// Mixtral: plain grouped-query attention, softmax router whose chosen weights sum to one; w1, w3,
// w2 are gate, up, down.
#include "models/shared_pieces.h"

namespace ft {

std::unique_ptr<Model> build_mixtral(const Checkpoint& checkpoint) {
  DecoderBuilder b(checkpoint);
  b.rope(b.sizes().d_head);
  const int64_t d_expert = b.width({"intermediate_size"});
  RouterSpec router = b.router(Scoring::kSoftmax);
  router.renormalise = true;
  for (int64_t layer = 0; layer < b.sizes().n_layers; ++layer) {
    const std::string block = DecoderBuilder::layer_prefix(layer) + "block_sparse_moe";
    GqaLayer attention =
        b.gqa(layer, {.window = b.window(layer, b.config().has("sliding_window"))});
    b.add_layer(layer, attention,
                MoeBlock{.experts = b.experts(block, router, d_expert,
                                              {.gate = "w1", .up = "w3", .down = "w2"})});
  }
  return b.finish("mixtral", describe_gqa(b.sizes()));
}

}  // namespace ft
