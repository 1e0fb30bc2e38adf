// DeepSeek-V3: multi-head latent attention, sigmoid router over groups with a selection bias, a
// shared expert; the first layers are dense.
#include <cmath>

#include "models/shared_pieces.h"

namespace ft {
namespace {

MlaSpec read_mla(const DecoderBuilder& b, const RopeSpec& rope) {
  MlaSpec spec;
  spec.n_heads = b.sizes().n_heads;
  spec.d_nope = b.width({"qk_nope_head_dim"});
  spec.d_rope = rope.d_rotary;
  spec.d_value = b.width({"v_head_dim"});
  spec.d_latent = b.width({"kv_lora_rank"});
  spec.d_q_latent = b.size_or({"q_lora_rank"}, 1, DecoderBuilder::kMostWidth, 0);
  spec.eps = 1e-6f;  // the reference does not give these norms the model's rms_norm_eps
  double scale = 1.0 / std::sqrt(static_cast<double>(spec.d_nope + spec.d_rope));
  if (rope.mscale_all != 0) scale *= std::pow(yarn_mscale(rope.factor, rope.mscale_all), 2);
  spec.scale = static_cast<float>(scale);
  return spec;
}

MlaLayer mla(DecoderBuilder& b, int64_t layer, const MlaSpec& spec) {
  const std::string prefix = DecoderBuilder::layer_prefix(layer) + "self_attn.";
  const bool has_bias = b.config().flag({"attention_bias"}, false);
  const int64_t d_model = b.sizes().d_model;
  const int64_t d_q = spec.n_heads * (spec.d_nope + spec.d_rope);
  const int64_t d_kv = spec.d_latent + spec.d_rope;
  Weights& w = b.weights();
  MlaLayer a;
  a.spec = spec;
  a.index = layer;
  if (spec.d_q_latent > 0) {
    a.q_down = w.dense(prefix + "q_a_proj", spec.d_q_latent, d_model);
    a.q_down_bias = w.vector_if(has_bias, prefix + "q_a_proj.bias", spec.d_q_latent);
    a.q_norm = w.vector(prefix + "q_a_layernorm.weight", spec.d_q_latent);
    a.q = w.dense(prefix + "q_b_proj", d_q, spec.d_q_latent);
  } else {
    a.q = w.dense(prefix + "q_proj", d_q, d_model);
  }
  a.kv_down = w.dense(prefix + "kv_a_proj_with_mqa", d_kv, d_model);
  a.kv_down_bias = w.vector_if(has_bias, prefix + "kv_a_proj_with_mqa.bias", d_kv);
  a.kv_norm = w.vector(prefix + "kv_a_layernorm.weight", spec.d_latent);
  a.kv_up =
      w.dense(prefix + "kv_b_proj", spec.n_heads * (spec.d_nope + spec.d_value), spec.d_latent);
  a.o = w.dense(prefix + "o_proj", d_model, spec.n_heads * spec.d_value);
  a.o_bias = w.vector_if(has_bias, prefix + "o_proj.bias", d_model);
  return a;
}

}  // namespace

std::unique_ptr<Model> build_deepseek_v3(const Checkpoint& checkpoint) {
  DecoderBuilder b(checkpoint);
  RopeSpec& rope = b.rope(b.size({"qk_rope_head_dim"}, 2, DecoderBuilder::kMostWidth));
  rope.is_interleaved = b.config().flag({"rope_interleave"}, true);
  const MlaSpec spec = read_mla(b, rope);
  const RouterSpec router = grouped_sigmoid_router(b);
  const int64_t n_dense = b.size({"first_k_dense_replace"}, 0, b.sizes().n_layers);
  for (int64_t layer = 0; layer < b.sizes().n_layers; ++layer) {
    const std::string block = DecoderBuilder::layer_prefix(layer) + "mlp";
    MlaLayer attention = mla(b, layer, spec);
    if (layer < n_dense) {
      b.add_layer(layer, attention, b.feed_forward(block, b.width({"intermediate_size"})));
    } else {
      b.add_layer(layer, attention, grouped_sigmoid_block(b, block, router));
    }
  }
  return b.finish(
      "deepseek_v3",
      fmt::format("MLA, {} heads, latent {} + {}", spec.n_heads, spec.d_latent, spec.d_rope),
      b.size_or({"n_shared_experts"}, 0, 1024, 0));
}

}  // namespace ft
