// The vocabulary in which an architecture's file is written: sizes from the configuration, layers
// from named tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "models/decoder.h"

namespace ft {

/// Sizes that every decoder has.
struct DecoderSizes {
  int64_t n_vocab = 0;
  int64_t d_model = 0;
  int64_t n_layers = 0;
  int64_t n_heads = 0;
  int64_t n_kv_heads = 0;
  int64_t d_head = 0;
  int64_t n_context = 0;
  float eps = 0;
};

/// What differs between the grouped-query attentions of architectures. Tensors are
/// <prefix>.{q,k,v,o}_proj, q_norm, k_norm, sinks.
struct GqaOptions {
  bool qkv_bias = false;
  bool o_bias = false;
  bool has_sinks = false;
  QkNorm qk_norm = QkNorm::kNone;
  float clip = 0;
  int64_t window = 0;
};

/// How an architecture names the matrices of its experts below the block's prefix.
struct ExpertNames {
  std::string_view gate = "gate_proj";
  std::string_view up = "up_proj";
  std::string_view down = "down_proj";
};

class DecoderBuilder {
 public:
  static constexpr int64_t kMostWidth = 1 << 20;

  /// Reads the sizes. Errors: kBadInput with key and value for a size that is missing or out of
  /// range.
  explicit DecoderBuilder(const Checkpoint& checkpoint);

  const Config& config() const { return config_; }
  const DecoderSizes& sizes() const { return sizes_; }
  Weights& weights() { return *weights_; }

  /// An integer of the configuration within [least, most]. Errors: kBadInput with key, value and
  /// range.
  int64_t size(Config::Names names, int64_t least, int64_t most) const;
  int64_t width(Config::Names names) const { return size(names, 1, kMostWidth); }
  int64_t size_or(Config::Names names, int64_t least, int64_t most, int64_t otherwise) const;

  /// Sets those of all layers: the rotary positions that the configuration declares, old or new
  /// dialect, over `d_head` dimensions of which a share may rotate. Errors: kBadInput without a theta, kUnsupported for an
  /// unknown scaling.
  RopeSpec& rope(int64_t d_head, double partial_default = 1);

  /// The window of a layer: from `layer_types` where there are some, else `everywhere`.
  int64_t window(int64_t layer, bool everywhere) const;

  GqaLayer gqa(int64_t layer, const GqaOptions& options);
  FeedForward feed_forward(const std::string& prefix, int64_t d_hidden,
                           const ExpertNames& names = {});

  /// The router's numbers: experts and choices per token, checked.
  RouterSpec router(Scoring scoring) const;

  /// The experts of one layer. `prefix`: of the block ("model.layers.3.mlp"); the router is
  /// <prefix>.gate.
  ExpertLayer experts(const std::string& prefix, const RouterSpec& spec, int64_t d_expert,
                      const ExpertNames& names = {});

  /// Experts that lie in one tensor: `source(e)` describes expert e.
  ExpertLayer experts_from(const std::string& router, const RouterSpec& spec,
                           const std::function<ExpertSource(int64_t)>& source);

  /// "model.layers.<layer>."
  static std::string layer_prefix(int64_t layer);

  template <typename Attention, typename Block>
  void add_layer(int64_t layer, Attention attention, Block block) {
    const std::string prefix = layer_prefix(layer);
    parts_.layers.push_back(
        {weights().vector(prefix + "input_layernorm.weight", sizes_.d_model), std::move(attention),
         weights().vector(prefix + "post_attention_layernorm.weight", sizes_.d_model),
         std::move(block)});
  }

  /// Binds embedding, final norm and head, and refuses tensors that nothing has read. Layers behind
  /// the last one (multi-token prediction) are left out.
  std::unique_ptr<Model> finish(std::string_view architecture, std::string attention,
                                int64_t n_shared_experts = 0);

 private:
  RopeSpec read_rope(const Config& rope, int64_t d_head, double partial_default) const;

  Config config_;
  DecoderSizes sizes_;
  std::unique_ptr<Weights> weights_;
  DecoderParts parts_;
};

}  // namespace ft
