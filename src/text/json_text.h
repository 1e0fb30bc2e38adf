// Reading of JSON from hostile files. The library's trees are safe to walk only
// where they are shallow, so depth is bounded before it sees a text. Headers do
// not include the library: its type comes as a parameter.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file_map.h"

namespace ft {

/// Errors: kBadInput, with `where`, for text that nests deeper than 64 levels
/// before the first place at which it is no JSON. Published configuration files
/// have 10 at most.
void check_json_depth(std::string_view text, const std::string& where);

/// Errors: kBadInput for what is no JSON or nests too deeply.
template <typename Json>
Json parse_json_text(std::string_view text, const std::string& where) {
  check_json_depth(text, where);
  try {
    return Json::parse(text.begin(), text.end());
  } catch (const typename Json::exception& error) {
    bad_input("{}: not valid JSON: {:.300}", where, error.what());
  }
}

/// The object in a configuration file; an empty one if there is no such file.
/// Errors: kIo, and kBadInput for what is larger than 64 MiB, no JSON, or no
/// object.
template <typename Json>
Json read_json_object(const std::filesystem::path& file) {
  constexpr uint64_t kMaxBytes = 64 << 20;  // some list thousands of added tokens
  const std::optional<std::string> text = read_text_file_if_present(file, kMaxBytes);
  if (!text) return Json::object();
  Json object = parse_json_text<Json>(*text, file.string());
  if (!object.is_object()) bad_input("{}: holds no JSON object", file.string());
  return object;
}

}  // namespace ft
