// One checkpoint under every dialect of configuration gives one model: its logits are equal bit by
// bit.
#include <gtest/gtest.h>

#include "tests/engine/golden.h"
#include "tests/support/changed_model.h"

namespace ft::test {
namespace {

using nlohmann::json;

void rename(json& config, const std::string& from, const std::string& to) {
  if (!config.contains(from) || config.contains(to)) return;
  config[to] = config[from];
  config.erase(from);
}

/// `rope_theta` and `rope_scaling` at the top, the kind called `type`; the number of experts under
/// its other name.
json older(json config) {
  rename(config, "dtype", "torch_dtype");
  rename(config, "num_local_experts", "num_experts");
  if (!config.contains("rope_parameters")) return config;
  json rope = config["rope_parameters"];
  config.erase("rope_parameters");
  for (const char* key : {"rope_theta", "partial_rotary_factor"}) {
    if (rope.contains(key)) config[key] = rope[key];
    rope.erase(key);
  }
  rename(rope, "rope_type", "type");
  config["rope_scaling"] = rope["type"] == "default" ? json() : rope;
  return config;
}

/// All of it in `rope_parameters`.
json newer(json config) {
  rename(config, "torch_dtype", "dtype");
  rename(config, "num_experts", "num_local_experts");
  if (config.contains("rope_parameters")) return config;
  json rope = json::object();
  if (config.contains("rope_scaling") && config["rope_scaling"].is_object()) {
    rope = config["rope_scaling"];
  }
  rename(rope, "type", "rope_type");
  if (!rope.contains("rope_type")) rope["rope_type"] = "default";
  rope["rope_theta"] = config["rope_theta"];
  config.erase("rope_theta");
  config.erase("rope_scaling");
  config["rope_parameters"] = rope;
  return config;
}

/// As the text model of one that also sees: its own settings one level down, quantisation at the
/// top.
json nested(json config, const std::string& key) {
  json outer = {{"model_type", "wrapper"}, {"architectures", {"SomeModel"}}};
  if (config.contains("quantization_config")) {
    outer["quantization_config"] = config["quantization_config"];
    config.erase("quantization_config");
  }
  config.erase("architectures");
  outer[key] = config;
  return outer;
}

class Dialects : public testing::TestWithParam<std::string> {
 protected:
  Dialects() : model_(GetParam()), tokens_(read_golden(fixture_dir(GetParam())).input_ids) {}

  std::vector<float> logits(const json& config) {
    model_.set_config(config);
    return score({.model_dir = model_.folder().string()}, tokens_);
  }

  ChangedModel model_;
  std::vector<int32_t> tokens_;
};

TEST_P(Dialects, GiveTheSameLogits) {
  const json config = model_.config();
  const std::vector<float> expected = logits(config);
  EXPECT_TRUE(same_bits(logits(older(config)), expected));
  EXPECT_TRUE(same_bits(logits(newer(config)), expected));
  for (const char* key : {"text_config", "language_config", "llm_config"}) {
    EXPECT_TRUE(same_bits(logits(nested(older(config), key)), expected)) << key;
    EXPECT_TRUE(same_bits(logits(nested(newer(config), key)), expected)) << key;
  }
}

/// Else the comparison above would say nothing about the keys of rotary positions.
TEST_P(Dialects, RotarySettingsAreNotOverlooked) {
  json config = older(model_.config());
  const std::vector<float> expected = logits(config);
  config["rope_theta"] = 3 * config["rope_theta"].get<double>();
  EXPECT_FALSE(same_bits(logits(config), expected));
  config["rope_theta"] = config["rope_theta"].get<double>() / 3;
  if (config["rope_scaling"].is_null()) return;
  config["rope_scaling"] = nullptr;
  EXPECT_FALSE(same_bits(logits(config), expected));
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Dialects, testing::ValuesIn(all_fixtures()),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace ft::test
