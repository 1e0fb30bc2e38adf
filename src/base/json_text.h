// Reading of JSON from hostile files. The library's trees are safe to walk only where they are
// shallow, so depth is bounded before it sees a text. Headers do not include the library: its type
// comes as a parameter.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file_map.h"

namespace ft {

/// What a config.json calls the language part of a model that has others.
inline constexpr std::string_view kTextModelNames[] = {"text_config", "language_config",
                                                       "llm_config"};

inline constexpr size_t kMaxJsonDepth = 64;  // published configuration files have 10 levels at most

/// Errors: kBadInput, with `where`, for text that nests deeper than kMaxJsonDepth before the first
/// place at which it is no JSON.
void check_json_depth(std::string_view text, const std::string& where);

/// Python writes NaN, Infinity and -Infinity as bare words, which JSON does not have. Here they
/// become strings, so that they matter only to who asks for the value. Nothing where there are
/// none: most files are as they should be, and some are large.
std::optional<std::string> quote_bare_words(std::string_view text);

/// Errors: kBadInput for what is no JSON or nests too deeply.
template <typename Json>
Json parse_json_text(std::string_view text, const std::string& where) {
  check_json_depth(text, where);
  try {
    const std::optional<std::string> quoted = quote_bare_words(text);
    return Json::parse(quoted ? std::string_view(*quoted) : text);
  } catch (const typename Json::exception& error) {
    bad_input("{}: not valid JSON: {:.300}", where, error.what());
  }
}

/// The object in a configuration file; an empty one if there is no such file. Errors: kIo, and
/// kBadInput for what is larger than 64 MiB, no JSON, or no object.
template <typename Json>
Json read_json_object(const std::filesystem::path& file) {
  constexpr uint64_t kMaxBytes = 64 << 20;  // some list thousands of added tokens
  const std::optional<std::string> text = read_text_file_if_present(file, kMaxBytes);
  if (!text) return Json::object();
  Json object = parse_json_text<Json>(*text, file.string());
  if (!object.is_object()) bad_input("{}: holds no JSON object", file.string());
  return object;
}

/// The value of a key of an object; null where the key is absent or its value is null.
template <typename Json>
const Json* find_value(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// Nothing for what is no integer of 64 bits; 2.0 is none.
template <typename Json>
std::optional<int64_t> integer_of(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.template get<uint64_t>() > INT64_MAX) return std::nullopt;
  return value.template get<int64_t>();
}

}  // namespace ft
