#include "models/builder.h"

#include <cmath>

#include "base/error.h"
#include "base/printable.h"

namespace ft {
namespace {

constexpr int64_t kMostLayers = 4096;
constexpr int64_t kMostVocab = 1 << 24;
constexpr int64_t kMostContext = int64_t{1} << 31;

std::string joined(Config::Names names) {
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace

int64_t DecoderBuilder::size(Config::Names names, int64_t least, int64_t most) const {
  const int64_t value = config_.integer(names);
  if (value < least || value > most) {
    bad_input("{}: {} is {}, outside the possible range {} to {}", config_.where(), joined(names),
              value, least, most);
  }
  return value;
}

int64_t DecoderBuilder::size_or(Config::Names names, int64_t least, int64_t most,
                                int64_t otherwise) const {
  for (const std::string_view name : names) {
    if (config_.has(name)) return size(names, least, most);
  }
  return otherwise;
}

DecoderBuilder::DecoderBuilder(const Checkpoint& checkpoint)
    : config_(checkpoint.config().text_model()), weights_(std::make_unique<Weights>(checkpoint)) {
  sizes_.n_vocab = size({"vocab_size"}, 1, kMostVocab);
  sizes_.d_model = size({"hidden_size"}, 1, kMostWidth);
  sizes_.n_layers = size({"num_hidden_layers"}, 1, kMostLayers);
  sizes_.n_heads = size({"num_attention_heads"}, 1, kMostWidth);
  sizes_.n_kv_heads = size_or({"num_key_value_heads"}, 1, sizes_.n_heads, sizes_.n_heads);
  sizes_.d_head =
      size_or({"head_dim"}, 1, kMostWidth, std::max<int64_t>(sizes_.d_model / sizes_.n_heads, 1));
  sizes_.n_context = size({"max_position_embeddings"}, 1, kMostContext);
  sizes_.eps = static_cast<float>(config_.number({"rms_norm_eps"}));
  if (!(sizes_.eps >= 0) || sizes_.eps > 1) {
    bad_input("{}: rms_norm_eps is {}, outside 0 to 1", config_.where(), sizes_.eps);
  }
  if (sizes_.n_heads % sizes_.n_kv_heads != 0) {
    bad_input("{}: {} attention heads cannot share {} key/value heads", config_.where(),
              sizes_.n_heads, sizes_.n_kv_heads);
  }
  const std::string act = config_.string({"hidden_act"}, "silu");
  if (act != "silu" && act != "swish") {
    unsupported("{}: hidden_act '{}' is not supported, only silu", config_.where(), printable(act));
  }
}

std::string DecoderBuilder::layer_prefix(int64_t layer) {
  return fmt::format("model.layers.{}.", layer);
}

int64_t DecoderBuilder::window(int64_t layer, bool everywhere) const {
  const std::vector<std::string> types = config_.strings({"layer_types"});
  bool is_sliding = everywhere;
  if (config_.has("layer_types")) {
    if (static_cast<int64_t>(types.size()) < sizes_.n_layers) {
      bad_input("{}: layer_types has {} entries for {} layers", config_.where(), types.size(),
                sizes_.n_layers);
    }
    const std::string& type = types[static_cast<size_t>(layer)];
    if (type != "sliding_attention" && type != "full_attention") {
      unsupported(
          "{}: layer type '{}' is not supported here, only full_attention and sliding_attention",
          config_.where(), printable(type));
    }
    is_sliding = type == "sliding_attention";
  }
  return is_sliding ? size({"sliding_window"}, 1, kMostContext) : 0;
}

GqaLayer DecoderBuilder::gqa(int64_t layer, const GqaOptions& options) {
  const std::string prefix = layer_prefix(layer) + "self_attn.";
  const int64_t d_q = sizes_.n_heads * sizes_.d_head;
  const int64_t d_kv = sizes_.n_kv_heads * sizes_.d_head;
  const bool all = options.qk_norm == QkNorm::kAll;
  const bool any = options.qk_norm != QkNorm::kNone;
  Weights& w = *weights_;
  GqaLayer a;
  a.spec = {.n_heads = sizes_.n_heads,
            .n_kv_heads = sizes_.n_kv_heads,
            .d_head = sizes_.d_head,
            .window = options.window,
            .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(sizes_.d_head))),
            .clip = options.clip,
            .eps = sizes_.eps,
            .qk_norm = options.qk_norm};
  a.index = layer;
  a.q = w.dense(prefix + "q_proj", d_q, sizes_.d_model);
  a.k = w.dense(prefix + "k_proj", d_kv, sizes_.d_model);
  a.v = w.dense(prefix + "v_proj", d_kv, sizes_.d_model);
  a.o = w.dense(prefix + "o_proj", sizes_.d_model, d_q);
  a.q_bias = w.vector_if(options.qkv_bias, prefix + "q_proj.bias", d_q);
  a.k_bias = w.vector_if(options.qkv_bias, prefix + "k_proj.bias", d_kv);
  a.v_bias = w.vector_if(options.qkv_bias, prefix + "v_proj.bias", d_kv);
  a.o_bias = w.vector_if(options.o_bias, prefix + "o_proj.bias", sizes_.d_model);
  a.q_norm = w.vector_if(any, prefix + "q_norm.weight", all ? d_q : sizes_.d_head);
  a.k_norm = w.vector_if(any, prefix + "k_norm.weight", all ? d_kv : sizes_.d_head);
  a.sinks = w.vector_if(options.has_sinks, prefix + "sinks", sizes_.n_heads);
  return a;
}

FeedForward DecoderBuilder::feed_forward(const std::string& prefix, int64_t d_hidden,
                                         const ExpertNames& names) {
  const auto module = [&](std::string_view name) { return fmt::format("{}.{}", prefix, name); };
  return {.gate = weights_->dense(module(names.gate), d_hidden, sizes_.d_model),
          .up = weights_->dense(module(names.up), d_hidden, sizes_.d_model),
          .down = weights_->dense(module(names.down), sizes_.d_model, d_hidden),
          .spec = {}};
}

RouterSpec DecoderBuilder::router(Scoring scoring) const {
  constexpr int64_t kMostExperts = 65536;
  RouterSpec spec;
  spec.n_experts = size({"num_experts", "num_local_experts", "n_routed_experts"}, 1, kMostExperts);
  spec.n_active = size({"num_experts_per_tok", "experts_per_token"}, 1, spec.n_experts);
  spec.scoring = scoring;
  return spec;
}

ExpertLayer DecoderBuilder::experts(const std::string& prefix, const RouterSpec& spec,
                                    int64_t d_expert, const ExpertNames& names) {
  return experts_from(prefix + ".gate", spec, [&](int64_t e) {
    const auto module = [&](std::string_view name) {
      return fmt::format("{}.experts.{}.{}", prefix, e, name);
    };
    return ExpertSource{.gate = weights_->expert(module(names.gate), d_expert, sizes_.d_model),
                        .up = weights_->expert(module(names.up), d_expert, sizes_.d_model),
                        .down = weights_->expert(module(names.down), sizes_.d_model, d_expert)};
  });
}

ExpertLayer DecoderBuilder::experts_from(const std::string& router, const RouterSpec& spec,
                                         const std::function<ExpertSource(int64_t)>& source) {
  ExpertLayer layer;
  layer.spec = spec;
  layer.router = weights_->dense(router, spec.n_experts, sizes_.d_model);
  layer.index = parts_.card.n_moe_layers++;
  parts_.card.router = spec;
  for (int64_t e = 0; e < spec.n_experts; ++e) parts_.experts.push_back(source(e));
  return layer;
}

std::unique_ptr<Model> DecoderBuilder::finish(std::string_view architecture, std::string attention,
                                              int64_t n_shared_experts) {
  Weights& w = *weights_;
  parts_.embedding = w.dense("model.embed_tokens", sizes_.n_vocab, sizes_.d_model);
  if (config_.flag({"tie_word_embeddings"}, false)) {
    parts_.head = parts_.embedding;
    w.ignore("lm_head.weight");
  } else {
    parts_.head = w.dense("lm_head", sizes_.n_vocab, sizes_.d_model);
  }
  parts_.final_norm = w.vector("model.norm.weight", sizes_.d_model);
  parts_.eps = sizes_.eps;
  const int64_t n_predictors =
      size_or({"num_nextn_predict_layers", "num_mtp_layers", "num_mtp_modules"}, 0, kMostLayers, 0);
  for (int64_t i = 0; i < n_predictors; ++i) w.ignore(layer_prefix(sizes_.n_layers + i) + "*");
  w.check_all_read();
  ModelCard& card = parts_.card;
  card.architecture = architecture;
  card.attention = std::move(attention);
  card.n_vocab = sizes_.n_vocab;
  card.d_model = sizes_.d_model;
  card.n_layers = sizes_.n_layers;
  card.n_shared_experts = n_shared_experts;
  card.n_context = sizes_.n_context;
  parts_.weights = std::move(weights_);
  return make_decoder(std::move(parts_));
}

}  // namespace ft
