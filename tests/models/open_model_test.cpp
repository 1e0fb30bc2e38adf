// What binding a checkpoint to its architecture refuses, and which dialects it reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/team.h"
#include "models/registry.h"
#include "tests/support/changed_model.h"

namespace ft::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::unique_ptr<Model> open(const ChangedModel& model, std::unique_ptr<Checkpoint>& keep) {
  keep = std::make_unique<Checkpoint>(Checkpoint::open(model.folder()));
  return open_model(*keep);
}

/// The text of the Error that opening and filling ends with, or "".
std::string refusal(const ChangedModel& model) {
  try {
    std::unique_ptr<Checkpoint> checkpoint;
    Team team(1);
    open(model, checkpoint)->bank().fill(team, {});
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

struct ConfigCase {
  std::string fixture;
  std::string key;
  json value;  // null: the key is removed
  std::string says;
};

class RefusedConfig : public testing::TestWithParam<ConfigCase> {};

TEST_P(RefusedConfig, NamesTheKey) {
  const ConfigCase& c = GetParam();
  ChangedModel model(c.fixture);
  json config = model.config();
  if (c.value.is_null()) {
    config.erase(c.key);
  } else {
    config[c.key] = c.value;
  }
  model.set_config(config);
  EXPECT_THAT(refusal(model), HasSubstr(c.says)) << c.key << " " << c.value;
}

INSTANTIATE_TEST_SUITE_P(
    Keys, RefusedConfig,
    testing::Values(
        ConfigCase{"olmoe", "num_experts_per_tok", 0, "num_experts_per_tok"},
        ConfigCase{"olmoe", "num_experts_per_tok", -1, "num_experts_per_tok"},
        ConfigCase{"olmoe", "num_experts_per_tok", 9, "1 to 8"},
        ConfigCase{"olmoe", "num_experts_per_tok", 1.5, "num_experts_per_tok"},
        ConfigCase{"olmoe", "num_experts", 0, "num_experts"},
        ConfigCase{"olmoe", "num_experts", 9, "should have shape [9, 64]"},
        ConfigCase{"olmoe", "num_experts", 7, "should have shape [7, 64]"},
        ConfigCase{"olmoe", "hidden_size", 65, "model.layers.0"},
        ConfigCase{"olmoe", "hidden_size", json(), "hidden_size"},
        ConfigCase{"olmoe", "hidden_size", "64", "hidden_size"},
        ConfigCase{"olmoe", "num_hidden_layers", 1000000000, "num_hidden_layers"},
        ConfigCase{"olmoe", "num_hidden_layers", 3, "model.layers.3."},
        ConfigCase{"olmoe", "num_attention_heads", 3, "key"},
        ConfigCase{"olmoe", "num_key_value_heads", 3, "cannot share"},
        ConfigCase{"olmoe", "rope_parameters", json(), "rope_theta"},
        ConfigCase{"olmoe", "rope_parameters", json{{"rope_theta", -1.0}}, "rope_theta"},
        ConfigCase{"olmoe", "rope_parameters", json{{"rope_theta", 1e4}, {"rope_type", "spiral"}},
                   "spiral"},
        ConfigCase{"olmoe", "rope_parameters",
                   json{{"rope_theta", 1e4},
                        {"rope_type", "llama3"},
                        {"factor", 8},
                        {"original_max_position_embeddings", 64}},
                   "low_freq_factor"},
        ConfigCase{"olmoe", "hidden_act", "gelu", "gelu"},
        ConfigCase{"olmoe", "clip_qkv", 0, "clip_qkv"},
        ConfigCase{"olmoe", "rope_parameters", json{{"rope_theta", 1e4}, {"rope_type", "linear"}},
                   "factor"},
        ConfigCase{"olmoe", "rope_parameters",
                   json{{"rope_theta", 1}, {"rope_type", "yarn"}, {"factor", 2}}, "above 1"},
        ConfigCase{"gpt_oss", "swiglu_limit", -1, "swiglu_limit"},
        ConfigCase{"gpt_oss", "layer_types", json::array(), "layer_types has 0"},
        ConfigCase{"minimax_m2", "scoring_func", "softmax", "only sigmoid"},
        ConfigCase{"minimax_m2", "qk_norm_type", "per_head", "only per_layer"},
        ConfigCase{"minimax_m2", "use_qk_norm", false, "use_qk_norm"},
        ConfigCase{"minimax_m2", "use_routing_bias", false, "use_routing_bias"},
        ConfigCase{"minimax_m2", "attn_type_list", json{1, 0}, "attn_type_list"},
        ConfigCase{"minimax_m2", "shared_intermediate_size", 5, "shared_intermediate_size"},
        ConfigCase{"olmoe", "rms_norm_eps", -1, "rms_norm_eps"},
        ConfigCase{"olmoe", "vocab_size", 255, "embed_tokens"},
        ConfigCase{"olmoe", "model_type", "llama", "qwen3_moe"},
        ConfigCase{"olmoe", "quantization_config", json{{"quant_method", "awq"}}, "awq"},
        ConfigCase{"mixtral", "sliding_window", 0, "sliding_window"},
        ConfigCase{"gpt_oss", "layer_types", json{"full_attention"}, "layer_types"},
        ConfigCase{"gpt_oss", "layer_types", json{"a", "b", "c", "d"}, "layer type 'a'"},
        ConfigCase{"deepseek_v3", "n_group", 3, "equal groups"},
        ConfigCase{"deepseek_v3", "topk_group", 5, "topk_group"},
        ConfigCase{"deepseek_v3", "scoring_func", "softmax", "only sigmoid"},
        ConfigCase{"deepseek_v3", "topk_method", "greedy", "only noaux_tc"},
        ConfigCase{"deepseek_v3", "routed_scaling_factor", json(), "routed_scaling_factor"},
        ConfigCase{"deepseek_v3", "n_group", json(), "n_group"},
        ConfigCase{"deepseek_v3", "first_k_dense_replace", json(), "first_k_dense_replace"},
        ConfigCase{"minimax_m2", "partial_rotary_factor", 1e300, "partial_rotary_factor"},
        ConfigCase{"olmoe", "rope_scaling", json{{"rope_type", "yarn"}, {"factor", 2}},
                   "rope_scaling says"},
        ConfigCase{"deepseek_v3", "kv_lora_rank", 31, "kv_a_proj"},
        ConfigCase{"minimax_m2", "rotary_dim", 7, "even"},
        ConfigCase{"minimax_m2", "rotary_dim", 18, "rotary_dim"},
        // A scheme and tensors that disagree.
        ConfigCase{"qwen3_moe_nvfp4", "quantization_config", json(), "no quantisation"},
        ConfigCase{"qwen3_moe_fp8", "quantization_config", json(), "no quantisation"},
        ConfigCase{"gpt_oss_mxfp4", "quantization_config", json(), "no quantisation"},
        ConfigCase{"olmoe", "quantization_config",
                   json{{"quant_method", "fp8"}, {"weight_block_size", {128, 128}}}, "fp8"},
        ConfigCase{"gpt_oss", "quantization_config", json{{"quant_method", "mxfp4"}}, "mxfp4"}));

TEST(OpenModel, TensorsThatNothingReadsAreRefused) {
  ChangedModel model("qwen2_moe");
  json config = model.config();
  config["qkv_bias"] = false;
  model.set_config(config);
  EXPECT_THAT(refusal(model), HasSubstr("k_proj.bias"));
}

TEST(OpenModel, MissingAndMisshapenTensorsAreNamed) {
  ChangedModel missing("olmoe");
  missing.change_header([](json& header) {
    header["model.other"] = header["model.layers.2.self_attn.q_norm.weight"];
    header.erase("model.layers.2.self_attn.q_norm.weight");
  });
  EXPECT_THAT(refusal(missing), HasSubstr("model.layers.2.self_attn.q_norm.weight"));
  ChangedModel misshapen("olmoe");
  misshapen.change_header([](json& header) {
    header["model.layers.1.mlp.gate.weight"]["shape"] = {64, 8};
  });
  EXPECT_THAT(refusal(misshapen),
              testing::AllOf(HasSubstr("model.layers.1.mlp.gate.weight"), HasSubstr("[8, 64]")));
}

TEST(OpenModel, BadScalesAreRefused) {
  ChangedModel mx("gpt_oss_mxfp4");
  mx.set_byte("model.layers.1.mlp.experts.down_proj_scales", 100, 255);
  EXPECT_THAT(
      refusal(mx),
      HasSubstr("model.layers.1.mlp.experts.down_proj_scales (U8 [8, 64, 2]) has at [0, 50, 0]"));
  for (const int bad : {0x7F, 0xFF, 0x80, 0xB8}) {
    ChangedModel nv("qwen3_moe_nvfp4");
    nv.set_byte("model.layers.0.mlp.experts.3.up_proj.weight_scale", 5, static_cast<uint8_t>(bad));
    EXPECT_THAT(refusal(nv), HasSubstr("experts.3.up_proj")) << bad;
  }
  ChangedModel fp8("qwen3_moe_fp8");
  fp8.set_byte("model.layers.1.self_attn.k_proj.weight_scale_inv", 1, 0xBF);  // a negative bfloat16
  EXPECT_THAT(refusal(fp8), HasSubstr("k_proj"));
  ChangedModel e8m0("deepseek_v3_fp4");
  e8m0.set_byte("model.layers.0.self_attn.o_proj.scale", 0, 255);
  EXPECT_THAT(refusal(e8m0), HasSubstr("o_proj"));
  ChangedModel global("qwen3_moe_nvfp4");
  for (size_t i = 0; i < 4; ++i)
    global.set_byte("model.layers.0.mlp.experts.0.up_proj.weight_scale_2", i, 0);
  EXPECT_THAT(refusal(global), HasSubstr("weight_scale_2"));
}

TEST(OpenModel, TheDeclaredDialectDecidesHowTensorsAreRead) {
  ChangedModel model("qwen3_moe_nvfp4");  // ModelOpt's names
  json config = model.config();
  config["quantization_config"] = {{"quant_method", "compressed-tensors"},
                                   {"format", "nvfp4-pack-quantized"},
                                   {"ignore", {"lm_head", "re:.*self_attn.*", "re:.*mlp.gate$"}},
                                   {"config_groups",
                                    {{"group_0",
                                      {{"targets", {"Linear"}},
                                       {"weights",
                                        {{"num_bits", 4},
                                         {"type", "float"},
                                         {"group_size", 16},
                                         {"strategy", "tensor_group"}}}}}}}};
  model.set_config(config);
  EXPECT_THAT(refusal(model), HasSubstr("weight_global_scale"));
}

TEST(OpenModel, PredictorLayersAreLeftOut) {
  ChangedModel model("glm4_moe");
  model.change_header([](json& header) {
    // A layer behind the last one, made of nothing: an empty tensor takes no bytes.
    const size_t end = header["model.norm.weight"]["data_offsets"][1];
    header["model.layers.4.eh_proj.weight"] = {
        {"dtype", "BF16"}, {"shape", {0, 64}}, {"data_offsets", {end, end}}};
  });
  json config = model.config();
  ASSERT_EQ(config["num_nextn_predict_layers"], 1);
  EXPECT_EQ(refusal(model), "");
  config["num_nextn_predict_layers"] = 0;
  model.set_config(config);
  EXPECT_THAT(refusal(model), HasSubstr("model.layers.4.eh_proj"));
}

TEST(OpenModel, OldAndNestedDialectsAreTheSameModel) {
  ChangedModel plain("qwen3_moe_nvfp4");
  ChangedModel old("qwen3_moe_nvfp4");
  json config = old.config();
  config["num_experts"] = config["num_local_experts"];
  config.erase("num_local_experts");
  config["rope_theta"] = config["rope_parameters"]["rope_theta"];
  config.erase("rope_parameters");
  config["rope_scaling"] = nullptr;
  old.set_config(config);
  ChangedModel nested("qwen3_moe_nvfp4");
  json outer = {{"model_type", "wrapper"},
                {"architectures", {"SomethingForConditionalGeneration"}}};
  json inner = nested.config();
  outer["quantization_config"] = inner["quantization_config"];
  inner.erase("quantization_config");
  inner.erase("architectures");
  outer["text_config"] = inner;
  nested.set_config(outer);
  std::unique_ptr<Checkpoint> keep[3];
  const ModelCard a = open(plain, keep[0])->card();
  const ModelCard b = open(old, keep[1])->card();
  const ModelCard c = open(nested, keep[2])->card();
  EXPECT_EQ(a.n_params, b.n_params);
  EXPECT_EQ(a.n_params, c.n_params);
  EXPECT_EQ(a.step_bytes, c.step_bytes);
}

TEST(OpenModel, CardCountsWhatIsThere) {
  ChangedModel model("qwen3_moe");
  std::unique_ptr<Checkpoint> checkpoint;
  const ModelCard card = open(model, checkpoint)->card();
  uint64_t n_params = 0;
  uint64_t n_bytes = 0;
  for (const TensorEntry& t : checkpoint->tensors()) {
    n_params += t.n_bytes / size_of(t.dtype);
    n_bytes += t.n_bytes;
  }
  const uint64_t n_embedding = 256 * 64;
  const uint64_t per_expert = 3 * 64 * 32;
  EXPECT_EQ(card.n_params, n_params);
  EXPECT_EQ(card.n_active_params, n_params - n_embedding - 4 * (8 - 2) * per_expert);
  EXPECT_EQ(card.step_bytes, n_bytes - 2 * (n_embedding + 4 * (8 - 2) * per_expert));
}

}  // namespace
}  // namespace ft::test
