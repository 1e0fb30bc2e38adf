// Pieces that several architectures share.
#include "models/shared_pieces.h"

#include <algorithm>

namespace ft {

std::string describe_gqa(const DecoderSizes& sizes) {
  return fmt::format("GQA, {} heads of {}, {} for keys and values", sizes.n_heads, sizes.d_head,
                     sizes.n_kv_heads);
}

bool is_sparse_layer(const DecoderBuilder& b, int64_t layer) {
  const std::vector<int64_t> dense = b.config().integers({"mlp_only_layers"});
  const int64_t step = b.size_or({"decoder_sparse_step"}, 1, b.sizes().n_layers, 1);
  return std::find(dense.begin(), dense.end(), layer) == dense.end() && (layer + 1) % step == 0;
}

RouterSpec grouped_sigmoid_router(const DecoderBuilder& b) {
  RouterSpec router = b.router(Scoring::kSigmoid);
  router.n_groups = b.size_or({"n_group"}, 1, router.n_experts, 1);
  router.n_active_groups = b.size_or({"topk_group"}, 1, router.n_groups, 1);
  if (router.n_experts % router.n_groups != 0) {
    bad_input("{}: {} experts cannot form {} equal groups", b.config().where(), router.n_experts,
              router.n_groups);
  }
  if (router.n_experts / router.n_groups * router.n_active_groups < router.n_active) {
    bad_input("{}: {} of {} groups hold fewer than the {} experts of a token", b.config().where(),
              router.n_active_groups, router.n_groups, router.n_active);
  }
  router.renormalise = b.config().flag({"norm_topk_prob"}, true);
  router.renormalise_eps = 1e-20f;
  router.scale = static_cast<float>(b.config().number({"routed_scaling_factor"}, 1));
  return router;
}

MoeBlock grouped_sigmoid_block(DecoderBuilder& b, const std::string& prefix,
                               const RouterSpec& router) {
  const int64_t d_expert = b.size({"moe_intermediate_size"}, 1, 1 << 20);
  const int64_t n_shared = b.size_or({"n_shared_experts"}, 0, 1024, 0);
  MoeBlock block = {
      .experts = b.experts(prefix, router, d_expert), .shared = {}, .shared_gate = {}};
  block.experts.selection_bias =
      b.weights().vector(prefix + ".gate.e_score_correction_bias", router.n_experts);
  if (n_shared > 0) block.shared = b.feed_forward(prefix + ".shared_experts", n_shared * d_expert);
  return block;
}

}  // namespace ft
