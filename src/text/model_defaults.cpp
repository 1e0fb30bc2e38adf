// Reading of the defaults. The files are small, and hostile until shown otherwise.
#include "text/model_defaults.h"

#include <algorithm>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_map.h"
#include "text/tokenizer.h"

namespace ft {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr uint64_t kMaxFileBytes =
    64 << 20;  // a tokenizer_config.json may list thousands of added tokens
constexpr int kMaxDepth = 64;

/// One of the folder's JSON files: an object, empty where the file is missing.
struct File {
  std::string name;
  Json object = Json::object();

  /// nullptr where the key is absent or null.
  const Json* find(const char* key) const {
    const auto at = object.find(key);
    return at == object.end() || at->is_null() ? nullptr : &*at;
  }
};

File read_object(const fs::path& folder, const char* name) {
  const fs::path path = folder / name;
  File file{.name = path.string()};
  if (!fs::exists(path)) return file;
  const std::string text = read_text_file(path, kMaxFileBytes);
  try {
    file.object = Json::parse(text, [&](int depth, Json::parse_event_t, Json&) {
      if (depth > kMaxDepth) bad_input("{}: nested deeper than {} levels", file.name, kMaxDepth);
      return true;
    });
  } catch (const Json::exception& error) {
    bad_input("{}: not valid JSON: {}", file.name, error.what());
  }
  if (!file.object.is_object()) bad_input("{}: holds no JSON object", file.name);
  return file;
}

void add_stop_token(const File& file, const Json& id, std::vector<int32_t>& stop_tokens) {
  if (!id.is_number_integer()) {
    bad_input("{}: eos_token_id is neither an integer nor a list of integers", file.name);
  }
  // Unsigned values above the range of int64 wrap to negative ones here; neither can be a token.
  const int64_t value = id.get<int64_t>();
  if (value >= 0 && value <= INT32_MAX) stop_tokens.push_back(static_cast<int32_t>(value));
}

void add_stop_tokens(const File& file, std::vector<int32_t>& stop_tokens) {
  const Json* ids = file.find("eos_token_id");
  if (ids == nullptr) return;
  if (!ids->is_array()) return add_stop_token(file, *ids, stop_tokens);
  for (const Json& id : *ids) add_stop_token(file, id, stop_tokens);
}

/// tokenizer_config.json: the spelling of the end token, as a string or as {"content": ...}.
std::optional<std::string> eos_spelling(const File& file) {
  const Json* token = file.find("eos_token");
  if (token == nullptr) return std::nullopt;
  if (token->is_object()) {
    const auto content = token->find("content");
    token = content == token->end() ? nullptr : &*content;
  }
  if (token == nullptr || !token->is_string()) {
    bad_input("{}: eos_token is neither a string nor an object with content", file.name);
  }
  return token->get<std::string>();
}

struct Range {
  double least;
  double most;
};

/// The number behind `key`, or `absent`.
template <typename T>
T number(const File& file, const char* key, T absent, Range range) {
  const Json* value = file.find(key);
  if (value == nullptr) return absent;
  if (!value->is_number()) bad_input("{}: {} is not a number", file.name, key);
  const double n = value->get<double>();
  if (!(n >= range.least && n <= range.most)) {
    bad_input("{}: {} is {}, outside {} to {}", file.name, key, n, range.least, range.most);
  }
  return static_cast<T>(n);
}

SamplingParams read_sampling(const File& file) {
  const Json* do_sample = file.find("do_sample");
  if (do_sample != nullptr && !do_sample->is_boolean()) {
    bad_input("{}: do_sample is neither true nor false", file.name);
  }
  const bool is_drawn = do_sample != nullptr && do_sample->get<bool>();
  SamplingParams params;
  const float temperature = number<float>(file, "temperature", 1, {0, 1e6});
  params.temperature = is_drawn ? temperature : 0;
  // Some files say -1 for "all".
  params.top_k = std::max(0, number<int32_t>(file, "top_k", is_drawn ? 50 : 0, {-1, INT32_MAX}));
  params.top_p = number<float>(file, "top_p", 1, {0, 1});
  params.min_p = number<float>(file, "min_p", 0, {0, 1});
  params.repetition_penalty = number<float>(file, "repetition_penalty", 1, {1e-6, 1e6});
  return params;
}

}  // namespace

ModelDefaults read_model_defaults(const fs::path& folder, const Tokenizer& tokenizer) {
  ModelDefaults defaults;
  const File generation = read_object(folder, "generation_config.json");
  defaults.sampling = read_sampling(generation);

  std::vector<int32_t>& stop_tokens = defaults.stop_tokens;
  const File config = read_object(folder, "config.json");
  add_stop_tokens(config, stop_tokens);
  if (const Json* nested = config.find("text_config"); nested != nullptr && nested->is_object()) {
    add_stop_tokens({.name = config.name + ": text_config", .object = *nested}, stop_tokens);
  }
  add_stop_tokens(generation, stop_tokens);
  if (const auto spelling = eos_spelling(read_object(folder, "tokenizer_config.json"))) {
    // A spelling that the vocabulary lacks can never be produced, so that there is nothing to stop
    // at.
    if (const auto id = tokenizer.id_of(*spelling)) stop_tokens.push_back(*id);
  }
  std::sort(stop_tokens.begin(), stop_tokens.end());
  stop_tokens.erase(std::unique(stop_tokens.begin(), stop_tokens.end()), stop_tokens.end());
  return defaults;
}

}  // namespace ft
