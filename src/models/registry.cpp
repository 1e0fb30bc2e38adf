#include "models/registry.h"

#include <array>

#include "base/error.h"
#include "base/printable.h"

namespace ft {

// One file each.
std::unique_ptr<Model> build_deepseek_v3(const Checkpoint& checkpoint);
std::unique_ptr<Model> build_glm4_moe(const Checkpoint& checkpoint);
std::unique_ptr<Model> build_gpt_oss(const Checkpoint& checkpoint);
std::unique_ptr<Model> build_minimax_m2(const Checkpoint& checkpoint);
std::unique_ptr<Model> build_mixtral(const Checkpoint& checkpoint);
std::unique_ptr<Model> build_olmoe(const Checkpoint& checkpoint);
std::unique_ptr<Model> build_qwen2_moe(const Checkpoint& checkpoint);
std::unique_ptr<Model> build_qwen3_moe(const Checkpoint& checkpoint);

namespace {

struct Architecture {
  std::string_view model_type;
  std::string_view class_name;
  std::unique_ptr<Model> (*build)(const Checkpoint&);
};

constexpr std::array<Architecture, 8> kArchitectures = {{
    {"deepseek_v3", "DeepseekV3ForCausalLM", build_deepseek_v3},
    {"glm4_moe", "Glm4MoeForCausalLM", build_glm4_moe},
    {"gpt_oss", "GptOssForCausalLM", build_gpt_oss},
    {"minimax_m2", "MiniMaxM2ForCausalLM", build_minimax_m2},
    {"mixtral", "MixtralForCausalLM", build_mixtral},
    {"olmoe", "OlmoeForCausalLM", build_olmoe},
    {"qwen2_moe", "Qwen2MoeForCausalLM", build_qwen2_moe},
    {"qwen3_moe", "Qwen3MoeForCausalLM", build_qwen3_moe},
}};

}  // namespace

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const Architecture& row : kArchitectures) names.emplace_back(row.model_type);
  return names;
}

std::unique_ptr<Model> open_model(const Checkpoint& checkpoint) {
  const Config config = checkpoint.config().text_model();
  const std::string type = config.string({"model_type"}, "");
  const std::vector<std::string> classes = config.strings({"architectures"});
  for (const Architecture& row : kArchitectures) {
    if (type == row.model_type) return row.build(checkpoint);
  }
  for (const Architecture& row : kArchitectures) {
    for (const std::string& name : classes) {
      if (type.empty() && name == row.class_name) return row.build(checkpoint);
    }
  }
  const std::string named = !type.empty()     ? type
                            : classes.empty() ? "(none given)"
                                              : classes.front();
  unsupported("{}: architecture '{}' is not known; known are {}", config.where(), printable(named),
              fmt::join(known_architectures(), ", "));
}

}  // namespace ft
