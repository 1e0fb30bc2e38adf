// Pieces that several architectures share.
#include "models/shared_pieces.h"

#include <algorithm>

#include "base/printable.h"

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

void require_choice(const Config& config, std::string_view key, std::string_view supported) {
  const std::string value = config.string({key}, supported);
  if (value == supported) return;
  unsupported("{}: {} '{}' is not supported here, only {}", config.where(), key, printable(value),
              supported);
}

void require_flag(const Config& config, std::string_view key) {
  if (!config.flag({key}, true))
    unsupported("{}: {} false is not supported here", config.where(), key);
}

RouterSpec grouped_sigmoid_router(const DecoderBuilder& b) {
  // Defaults differ between implementations; a wrong one would give wrong numbers, not an error.
  RouterSpec router = b.router(Scoring::kSigmoid);
  require_choice(b.config(), "scoring_func", "sigmoid");
  require_choice(b.config(), "topk_method", "noaux_tc");
  router.n_groups = b.size({"n_group"}, 1, router.n_experts);
  router.n_active_groups = b.size({"topk_group"}, 1, router.n_groups);
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
  router.scale = static_cast<float>(b.config().number({"routed_scaling_factor"}));
  return router;
}

MoeBlock grouped_sigmoid_block(DecoderBuilder& b, const std::string& prefix,
                               const RouterSpec& router) {
  const int64_t d_expert = b.width({"moe_intermediate_size"});
  const int64_t n_shared = b.size_or({"n_shared_experts"}, 0, 1024, 0);
  MoeBlock block = {.experts = b.experts(prefix, router, d_expert)};
  block.experts.selection_bias =
      b.weights().vector(prefix + ".gate.e_score_correction_bias", router.n_experts);
  if (n_shared > 0) block.shared = b.feed_forward(prefix + ".shared_experts", n_shared * d_expert);
  return block;
}

}  // namespace ft
