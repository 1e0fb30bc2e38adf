// Quantization: every dialect, written as the tools write it, and what must be refused by name.
#include "files/quantization.h"

#include <gtest/gtest.h>

#include "tests/files/files_support.h"

namespace ft::test {
namespace {

using Scheme = Quantization::Scheme;
using Dialect = Quantization::Dialect;

Quantization read(const std::string& declared, const std::string& key = "quantization_config") {
  return quantization_of(Config::parse("{\"" + key + "\": " + declared + "}", "config.json"));
}

void refuse(const std::string& declared, std::initializer_list<std::string_view> parts,
            ErrorKind kind = ErrorKind::kUnsupported) {
  expect_error(kind, {"config.json: quantization_config"}, [&] { read(declared); });
  expect_error(kind, parts, [&] { read(declared); });
}

TEST(Quantization, NothingDeclaredIsNone) {
  const Quantization none = quantization_of(Config::parse("{}", "config.json"));
  EXPECT_EQ(none.scheme, Scheme::kNone);
  EXPECT_TRUE(none.is_ignored("model.layers.0.mlp.experts.0.up_proj"));
  EXPECT_EQ(read("null").scheme, Scheme::kNone);
}

TEST(Quantization, Fp8Blocks) {
  const Quantization fp8 = read(R"({"quant_method": "fp8", "fmt": "e4m3",
      "activation_scheme": "dynamic", "weight_block_size": [128, 128]})");
  EXPECT_EQ(fp8.scheme, Scheme::kFp8Block);
  EXPECT_EQ(fp8.dialect, Dialect::kNative);
  EXPECT_FALSE(fp8.is_ignored("lm_head"));
  // As MiniMax-M2 has it: the last component only.
  const Quantization minimax = read(R"({"quant_method": "fp8", "fmt": "float8_e4m3fn",
      "weight_block_size": [128, 128],
      "modules_to_not_convert": ["gate", "e_score_correction_bias", "lm_head"]})");
  EXPECT_TRUE(minimax.is_ignored("model.layers.3.block_sparse_moe.gate"));
  EXPECT_TRUE(minimax.is_ignored("lm_head"));
  EXPECT_FALSE(minimax.is_ignored("model.layers.3.block_sparse_moe.gate_proj"));
  EXPECT_FALSE(minimax.is_ignored("model.layers.3.block_sparse_moe.experts.0.w1"));
}

TEST(Quantization, RefusesOtherFp8) {
  refuse(R"({"quant_method": "fp8"})", {"weight_block_size", "each tensor"});
  refuse(R"({"quant_method": "fp8", "weight_block_size": null})", {"each tensor"});
  refuse(R"({"quant_method": "fp8", "weight_block_size": [1, 128]})", {"[1, 128]"});
  refuse(R"({"quant_method": "fp8", "weight_block_size": [128]})", {"[128]"});
  refuse(R"({"quant_method": "fp8", "fmt": "e5m2", "weight_block_size": [128, 128]})",
         {"fmt", "e5m2"});
}

TEST(Quantization, ModelOptInConfig) {
  const Quantization nvfp4 = read(R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
      "kv_cache_scheme": null, "ignore": ["lm_head", "*self_attn*", "*mlp.gate"],
      "config_groups": {"group_0": {
        "weights": {"num_bits": 4, "type": "float", "group_size": 16},
        "input_activations": {"num_bits": 4, "type": "float", "group_size": 16}}}})");
  EXPECT_EQ(nvfp4.scheme, Scheme::kNvfp4);
  EXPECT_EQ(nvfp4.dialect, Dialect::kModelOpt);
  EXPECT_TRUE(nvfp4.is_ignored("lm_head"));
  EXPECT_TRUE(nvfp4.is_ignored("model.layers.0.self_attn.q_proj"));
  EXPECT_TRUE(nvfp4.is_ignored("model.layers.11.mlp.gate"));
  EXPECT_FALSE(nvfp4.is_ignored("model.layers.11.mlp.gate_proj"));
  EXPECT_FALSE(nvfp4.is_ignored("model.layers.11.mlp.experts.3.gate_proj"));
}

TEST(Quantization, ModelOptsOwnFile) {
  const Config extra = Config::parse(R"({"producer": {"name": "modelopt", "version": "0.23.0"},
      "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "group_size": 16,
                       "exclude_modules": ["lm_head", "model.layers.0.self_attn"]}})",
                                     "hf_quant_config.json");
  const Quantization nvfp4 =
      quantization_of(Config::parse("{}", "config.json").with("quantization_config", extra));
  EXPECT_EQ(nvfp4.scheme, Scheme::kNvfp4);
  EXPECT_EQ(nvfp4.dialect, Dialect::kModelOpt);
  EXPECT_TRUE(nvfp4.is_ignored("model.layers.0.self_attn.q_a_proj"));
  EXPECT_FALSE(nvfp4.is_ignored("model.layers.1.self_attn.q_a_proj"));
  EXPECT_FALSE(nvfp4.is_ignored("model.layers.0.self_attn_extra"));
}

TEST(Quantization, ModelOptWithOnlyItsCacheQuantisedIsNone) {
  EXPECT_EQ(read(R"({"quant_method": "modelopt", "quant_algo": null,
                     "kv_cache_quant_algo": "FP8"})")
                .scheme,
            Scheme::kNone);
}

TEST(Quantization, RefusesOtherModelOpt) {
  for (const std::string algo : {"FP8", "W4A8_AWQ", "MIXED_PRECISION", "INT4_AWQ"}) {
    refuse(R"({"quant_method": "modelopt", "quant_algo": ")" + algo + "\"}",
           {"quant_algo", algo, "known are"});
  }
  refuse(R"({"quant_algo": "NVFP4", "group_size": 32})", {"group_size 32"});
  refuse(R"({"quant_algo": "NVFP4",
             "config_groups": {"g": {"weights": {"num_bits": 8, "type": "float"}}}})",
         {"config_groups: g: weights", "num_bits 8"});
  refuse(R"({"quant_method": "modelopt", "config_groups": {"g": {}}})", {"without quant_algo"},
         ErrorKind::kBadInput);
}

/// As compressed-tensors writes it, with the weights' settings and the top level's extra members to
/// choose.
std::string compressed(const std::string& weights, const std::string& extra) {
  return R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {
      "targets": ["Linear"], "input_activations": null, "weights": {)" +
         weights + R"(}}}, "quantization_status": "compressed", "kv_cache_scheme": null)" + extra +
         "}";
}

constexpr const char* kNvfp4Weights =
    R"("num_bits": 4, "type": "float", "group_size": 16, "strategy": "tensor_group",
       "symmetric": true, "dynamic": false)";

TEST(Quantization, CompressedTensors) {
  const std::string declared = compressed(kNvfp4Weights, R"(, "format": "nvfp4-pack-quantized",
          "ignore": ["lm_head", "model.layers.0.mlp.gate", "re:.*self_attn.*",
                     "re:model\\.layers\\.[0-9]+\\.mlp\\.shared_expert_gate$"],
          "sparsity_config": {}, "transform_config": {})");
  for (const std::string key : {"quantization_config", "compression_config"}) {
    const Quantization nvfp4 = read(declared, key);
    EXPECT_EQ(nvfp4.scheme, Scheme::kNvfp4);
    EXPECT_EQ(nvfp4.dialect, Dialect::kCompressedTensors);
    EXPECT_TRUE(nvfp4.is_ignored("model.layers.7.self_attn.o_proj"));
    EXPECT_TRUE(nvfp4.is_ignored("model.layers.0.mlp.gate"));
    EXPECT_FALSE(nvfp4.is_ignored("model.layers.1.mlp.gate"));
    EXPECT_TRUE(nvfp4.is_ignored("model.layers.12.mlp.shared_expert_gate"));
    EXPECT_FALSE(nvfp4.is_ignored("model.layers.12.mlp.shared_expert_gate_up"));
    EXPECT_FALSE(nvfp4.is_ignored("model.layers.0.mlp.experts.1.down_proj"));
  }
}

TEST(Quantization, CompressedTensorsMayTargetSomeModules) {
  const Quantization nvfp4 = read(R"({"config_groups": {"group_0": {
      "format": "nvfp4-pack-quantized", "targets": ["re:.*mlp\\.experts\\..*"], "weights": {)" +
                                  std::string(kNvfp4Weights) + R"(}}},
      "format": "mixed-precision", "quant_method": "compressed-tensors"})");
  EXPECT_FALSE(nvfp4.is_ignored("model.layers.0.mlp.experts.1.down_proj"));
  EXPECT_TRUE(nvfp4.is_ignored("model.layers.0.self_attn.q_proj"));
}

TEST(Quantization, RefusesOtherCompressedTensors) {
  const std::string format = R"(, "format": "nvfp4-pack-quantized")";
  refuse(compressed(kNvfp4Weights, R"(, "format": "pack-quantized")"),
         {"format", "pack-quantized"});
  refuse(compressed(kNvfp4Weights, ""), {"group_0", "without the format"});
  refuse(compressed(kNvfp4Weights, R"(, "format": "mixed-precision")"), {"group_0"});
  refuse(compressed(R"("num_bits": 4, "type": "int", "group_size": 16)", format), {"type int"});
  refuse(compressed(R"("num_bits": 8, "type": "float")", format), {"num_bits 8"});
  refuse(compressed(R"("num_bits": 4, "type": "float", "group_size": 128)", format),
         {"group_size 128"});
  refuse(compressed(R"("num_bits": 4, "type": "float", "strategy": "channel")", format),
         {"strategy", "channel"});
  refuse(compressed(kNvfp4Weights, format + R"(, "sparsity_config": {"format": "sparse-24"})"),
         {"sparse-24"});
  refuse(compressed(kNvfp4Weights,
                    format + R"(, "transform_config": {"config_groups": {"u": {"type": "h"}}})"),
         {"transform_config", "rotated"});
  refuse(R"({"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"})",
         {"without config_groups"}, ErrorKind::kBadInput);
  refuse(R"({"quant_method": "compressed-tensors", "quantization_status": "frozen",
             "config_groups": {"g": {}}, "format": "nvfp4-pack-quantized"})",
         {"quantization_status", "frozen"});
}

TEST(Quantization, Mxfp4) {
  const Quantization mxfp4 = read(R"({"quant_method": "mxfp4", "modules_to_not_convert": [
      "model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]})");
  EXPECT_EQ(mxfp4.scheme, Scheme::kMxfp4);
  EXPECT_TRUE(mxfp4.is_ignored("model.layers.5.self_attn.q_proj"));
  EXPECT_TRUE(mxfp4.is_ignored("model.layers.5.self_attn"));
  EXPECT_TRUE(mxfp4.is_ignored("model.layers.5.mlp.router"));
  EXPECT_TRUE(mxfp4.is_ignored("model.embed_tokens"));
  EXPECT_FALSE(mxfp4.is_ignored("model.layers.5.mlp.experts"));
  EXPECT_FALSE(mxfp4.is_ignored("model.layers.5.mlp.router_extra"));
}

TEST(Quantization, UnknownMethodsAreNamedWithTheKnownOnes) {
  for (const std::string method : {"gptq", "awq", "bitsandbytes", "quark", "mxfp8"}) {
    refuse(R"({"quant_method": ")" + method + "\", \"bits\": 4}",
           {"\"" + method + "\"", "fp8", "modelopt", "compressed-tensors", "mxfp4"});
  }
  refuse("{}", {"no quant_method"}, ErrorKind::kBadInput);
  expect_error(ErrorKind::kBadInput, {"\"quantization_config\" must be an object"},
               [] { read("\"fp8\""); });
}

TEST(Quantization, IsFoundInANestedTextModel) {
  const Config config = Config::parse(
      R"({"text_config": {"quantization_config": {"quant_method": "mxfp4"}}})", "config.json");
  EXPECT_EQ(quantization_of(config).scheme, Scheme::kMxfp4);
}

TEST(Quantization, ReadsTheFixtures) {
  const auto scheme_of = [](const std::string& name) {
    return quantization_of(Config::read(FT_SOURCE_DIR "/fixtures/" + name + "/config.json"));
  };
  EXPECT_EQ(scheme_of("qwen3_moe").scheme, Scheme::kNone);
  EXPECT_EQ(scheme_of("qwen3_moe_nvfp4").scheme, Scheme::kNvfp4);
}

}  // namespace
}  // namespace ft::test
