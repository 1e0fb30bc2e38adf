// One reader for each dialect; each refuses what it does not know, since wrong numbers would still
// look like numbers.
#include "files/quantization.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/printable.h"
#include "tensor/formats.h"

namespace ft {
namespace {

using Scheme = Quantization::Scheme;
using Dialect = Quantization::Dialect;

constexpr std::string_view kKnown =
    "known are fp8 (e4m3 with weight_block_size [128, 128]), modelopt (NVFP4), compressed-tensors "
    "(nvfp4-pack-quantized) and mxfp4; use another release of the model";

[[noreturn]] void unsupported_value(const Config& declared, std::string_view key,
                                    const std::string& value) {
  unsupported("{}: {} {} is not supported; {}", declared.where(), key, printable(value), kKnown);
}

/// Refuses a member that is present and is not one of `allowed`.
void require_text(const Config& declared, std::string_view key,
                  std::initializer_list<std::string_view> allowed) {
  if (!declared.has(key)) return;
  const std::string value = declared.string({key});
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    unsupported_value(declared, key, fmt::format("\"{}\"", value));
  }
}

void require_integer(const Config& declared, std::string_view key, int64_t expected) {
  const int64_t value = declared.integer({key}, expected);
  if (value != expected) unsupported_value(declared, key, fmt::format("{}", value));
}

/// The modules left alone, under every name that the tools have for the list.
ModulePatterns ignored_in(const Config& declared) {
  std::vector<std::string> patterns;
  for (const std::string_view key :
       {"ignore", "exclude_modules", "modules_to_not_convert", "ignored_layers"}) {
    const std::vector<std::string> more = declared.strings({key});
    patterns.insert(patterns.end(), more.begin(), more.end());
  }
  return ModulePatterns(patterns, declared.where());
}

/// The groups of config_groups; empty if there is none.
std::vector<Config> groups_in(const Config& declared) {
  std::vector<Config> groups;
  const std::optional<Config> all = declared.find_object({"config_groups"});
  if (!all) return groups;
  for (const std::string& name : all->names()) groups.push_back(all->object({name}));
  return groups;
}

/// Refuses a group whose weights are anything but e2m1 with a scale for each 16 values.
void require_nvfp4_weights(const Config& group) {
  const Config weights = group.object({"weights"});
  if (weights.integer({"num_bits"}) != 4) {
    unsupported_value(weights, "num_bits", fmt::format("{}", weights.integer({"num_bits"})));
  }
  if (weights.string({"type"}) != "float") {
    unsupported_value(weights, "type", weights.string({"type"}));
  }
  require_integer(weights, "group_size", Nvfp4::kBlock);
  require_text(weights, "strategy", {"tensor_group"});
}

Quantization read_fp8(const Config& declared) {
  require_text(declared, "fmt", {"e4m3", "e4m3fn", "float8_e4m3fn"});
  const std::vector<int64_t> block = declared.integers({"weight_block_size"});
  if (block.empty()) {
    unsupported("{}: fp8 without weight_block_size (a scale for each tensor) is not supported; {}",
                declared.where(), kKnown);
  }
  Quantization quantization;
  if (block != std::vector<int64_t>{Fp8Block::kScaleRows, Fp8Block::kBlock}) {
    unsupported_value(declared, "weight_block_size", fmt::format("[{}]", fmt::join(block, ", ")));
  }
  quantization.scheme = Scheme::kFp8Block;
  return quantization;
}

Quantization read_modelopt(const Config& declared) {
  const std::vector<Config> groups = groups_in(declared);
  if (!declared.has("quant_algo")) {
    // Tools write a null algorithm where only the KV cache is quantised.
    if (groups.empty()) return {};
    bad_input("{}: config_groups without quant_algo", declared.where());
  }
  require_text(declared, "quant_algo", {"NVFP4"});
  require_integer(declared, "group_size", Nvfp4::kBlock);
  for (const Config& group : groups) require_nvfp4_weights(group);
  Quantization quantization;
  quantization.scheme = Scheme::kNvfp4;
  quantization.dialect = Dialect::kModelOpt;
  return quantization;
}

/// Modules that the groups speak of. "Linear", the class of all of them, gives the empty list.
ModulePatterns targets_in(const std::vector<Config>& groups, const std::string& where) {
  std::vector<std::string> targets;
  for (const Config& group : groups) {
    const std::vector<std::string> more = group.strings({"targets"});
    if (more.empty() || std::find(more.begin(), more.end(), "Linear") != more.end()) return {};
    targets.insert(targets.end(), more.begin(), more.end());
  }
  return ModulePatterns(targets, where);
}

Quantization read_compressed_tensors(const Config& declared) {
  const std::vector<Config> groups = groups_in(declared);
  if (groups.empty()) bad_input("{}: compressed-tensors without config_groups", declared.where());
  require_text(declared, "format", {"nvfp4-pack-quantized", "mixed-precision"});
  require_text(declared, "quantization_status", {"compressed"});
  for (const Config& group : groups) {
    require_text(group, "format", {"nvfp4-pack-quantized"});
    if (!group.has("format") && declared.string({"format"}, "") != "nvfp4-pack-quantized") {
      unsupported("{}: a group without the format nvfp4-pack-quantized; {}", group.where(), kKnown);
    }
    require_nvfp4_weights(group);
  }
  if (const auto sparsity = declared.find_object({"sparsity_config"})) {
    require_text(*sparsity, "format", {"dense"});
  }
  if (const auto transform = declared.find_object({"transform_config"})) {
    if (const auto rotated = transform->find_object({"config_groups"});
        rotated && !rotated->names().empty()) {
      unsupported("{}: transformed (rotated) weights are not supported; {}", transform->where(),
                  kKnown);
    }
  }
  Quantization quantization;
  quantization.scheme = Scheme::kNvfp4;
  quantization.dialect = Dialect::kCompressedTensors;
  quantization.targets = targets_in(groups, declared.where());
  return quantization;
}

Quantization read_mxfp4(const Config& declared) {
  require_integer(declared, "group_size", Mxfp4::kBlock);
  Quantization quantization;
  quantization.scheme = Scheme::kMxfp4;
  return quantization;
}

struct Method {
  std::string_view name;
  Quantization (*read)(const Config& declared);
};

constexpr std::array<Method, 5> kMethods = {{
    {"fp8", read_fp8},
    {"modelopt", read_modelopt},
    {"modelopt_fp4", read_modelopt},
    {"compressed-tensors", read_compressed_tensors},
    {"mxfp4", read_mxfp4},
}};

/// The declared method. Older files leave it out, but each dialect has a member that the others
/// lack.
std::string method_in(const Config& declared) {
  if (declared.has("quant_method")) return declared.string({"quant_method"});
  if (declared.has("quant_algo") || declared.has("kv_cache_quant_algo")) return "modelopt";
  if (declared.has("config_groups")) return "compressed-tensors";
  bad_input("{}: no quant_method; {}", declared.where(), kKnown);
}

}  // namespace

bool Quantization::is_ignored(std::string_view module) const {
  if (scheme == Scheme::kNone || ignored.match(module)) return true;
  return !targets.empty() && !targets.match(module);
}

Quantization quantization_of(const Config& config) {
  std::optional<Config> declared =
      config.text_model().find_object({"quantization_config", "compression_config"});
  if (!declared) return {};
  // ModelOpt's own file has one more level than what it adds to config.json.
  if (auto inner = declared->find_object({"quantization"})) declared = std::move(inner);
  const std::string name = method_in(*declared);
  for (const Method& method : kMethods) {
    if (method.name != name) continue;
    Quantization quantization = method.read(*declared);
    quantization.ignored = ignored_in(*declared);
    return quantization;
  }
  unsupported_value(*declared, "quant_method", fmt::format("\"{}\"", name));
}

}  // namespace ft
