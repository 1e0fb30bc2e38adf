// Reading of the defaults. The files are small, and hostile until shown otherwise.
#include "text/model_defaults.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "text/tokenizer.h"
#include "text/tokenizer_config.h"

namespace ft {
namespace {

using Json = nlohmann::json;

/// One of the folder's JSON files: an object, empty where the file is missing.
struct File {
  std::string name;
  Json object;

  /// Null where the key is absent or null.
  const Json* find(const char* key) const { return find_value(object, key); }
};

File read_file(const std::filesystem::path& path) {
  return {path.string(), read_json_object<Json>(path)};
}

int64_t require_integer(const File& file, const char* key, const Json& value) {
  const std::optional<int64_t> integer = integer_of(value);
  if (!integer) bad_input("{}: {} is not an integer of 64 bits", file.name, key);
  return *integer;
}

// Calls `take` with the value of the key, or with each item if it is a list.
template <typename Take>
void for_each(const File& file, const char* key, Take take) {
  const Json* value = file.find(key);
  if (value == nullptr) return;
  if (!value->is_array()) return take(*value);
  for (const Json& item : *value) take(item);
}

void add_stop_tokens(const File& file, std::vector<int32_t>& stop_tokens) {
  for_each(file, "eos_token_id", [&](const Json& id) {
    const int64_t value = require_integer(file, "eos_token_id", id);
    // Some files say -1 for "none"; ids beyond a vocabulary are never produced.
    if (value >= 0 && value <= INT32_MAX) stop_tokens.push_back(static_cast<int32_t>(value));
  });
}

std::vector<std::string> read_stop_strings(const File& file) {
  std::vector<std::string> strings;
  for_each(file, "stop_strings", [&](const Json& string) {
    if (!string.is_string()) {
      bad_input("{}: stop_strings is neither a string nor a list of strings", file.name);
    }
    strings.push_back(string.get<std::string>());
    if (strings.back().empty()) strings.pop_back();
  });
  return strings;
}

std::optional<int64_t> read_max_new_tokens(const File& file) {
  const Json* value = file.find("max_new_tokens");
  if (value == nullptr) return std::nullopt;
  const int64_t n = require_integer(file, "max_new_tokens", *value);
  if (n < 1) bad_input("{}: max_new_tokens is {}, not a positive number", file.name, n);
  return n;
}

float number(const File& file, const char* key, float absent) {
  const Json* value = file.find(key);
  if (value == nullptr) return absent;
  if (!value->is_number()) bad_input("{}: {} is not a number", file.name, key);
  const double n = value->get<double>();
  if (std::abs(n) > std::numeric_limits<float>::max()) {
    bad_input("{}: {} is {}, beyond what a float holds", file.name, key, n);
  }
  return static_cast<float>(n);
}

int32_t read_top_k(const File& file, int32_t absent) {
  const Json* value = file.find("top_k");
  if (value == nullptr) return absent;
  const int64_t n = require_integer(file, "top_k", *value);
  if (n == -1) return 0;  // how some files say "all"
  if (n < INT32_MIN || n > INT32_MAX) bad_input("{}: top_k is {}, too large", file.name, n);
  return static_cast<int32_t>(n);
}

SamplingParams read_sampling(const File& file) {
  const Json* do_sample = file.find("do_sample");
  if (do_sample != nullptr && !do_sample->is_boolean()) {
    bad_input("{}: do_sample is neither true nor false", file.name);
  }
  const bool is_drawn = do_sample != nullptr && do_sample->get<bool>();
  SamplingParams params;
  const float temperature = number(file, "temperature", 1);
  params.temperature = is_drawn ? temperature : 0;
  params.top_k = read_top_k(file, is_drawn ? 50 : 0);
  params.top_p = number(file, "top_p", 1);
  params.min_p = number(file, "min_p", 0);
  params.repetition_penalty = number(file, "repetition_penalty", 1);
  return params;
}

}  // namespace

ModelDefaults read_model_defaults(const std::filesystem::path& folder, const Tokenizer& tokenizer) {
  ModelDefaults defaults;
  const File generation = read_file(folder / "generation_config.json");
  defaults.sampling = read_sampling(generation);
  defaults.max_new_tokens = read_max_new_tokens(generation);
  defaults.stop_strings = read_stop_strings(generation);

  std::vector<int32_t>& stop_tokens = defaults.stop_tokens;
  const File config = read_file(folder / "config.json");
  add_stop_tokens(config, stop_tokens);
  for (const std::string_view name : kTextModelNames) {
    const Json* nested = config.find(std::string(name).c_str());
    if (nested == nullptr || !nested->is_object()) continue;
    add_stop_tokens({fmt::format("{}: {}", config.name, name), *nested}, stop_tokens);
  }
  add_stop_tokens(generation, stop_tokens);
  if (const auto spelling = read_tokenizer_config(folder).spelling_of("eos_token")) {
    // A spelling that the vocabulary lacks can never be produced, so that there is nothing to stop
    // at.
    if (const auto id = tokenizer.id_of(*spelling)) stop_tokens.push_back(*id);
  }
  std::sort(stop_tokens.begin(), stop_tokens.end());
  stop_tokens.erase(std::unique(stop_tokens.begin(), stop_tokens.end()), stop_tokens.end());
  return defaults;
}

}  // namespace ft
