// Both walks know strings from what is outside of them, and nothing more of JSON.
#include "base/json_text.h"

namespace ft {

void check_json_depth(std::string_view text, const std::string& where) {
  size_t depth = 0;
  bool is_in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      is_in_string = !is_in_string;
    } else if (!is_in_string && (c == '[' || c == '{')) {
      if (++depth > kMaxJsonDepth)
        bad_input("{}: nested deeper than {} levels", where, kMaxJsonDepth);
    } else if (!is_in_string && (c == ']' || c == '}')) {
      if (depth == 0) return;  // no JSON from here on
      --depth;
    }
  }
}

std::optional<std::string> quote_bare_words(std::string_view text) {
  constexpr std::string_view kWords[] = {"NaN", "-Infinity", "Infinity"};
  if (text.find("NaN") == text.npos && text.find("Infinity") == text.npos) {
    return std::nullopt;
  }
  std::string quoted;
  quoted.reserve(text.size());
  bool is_in_string = false;
  for (size_t i = 0; i < text.size();) {
    size_t n_taken = 1;
    bool is_word = false;
    if (is_in_string) {
      if (text[i] == '\\') n_taken = 2;
      if (text[i] == '"') is_in_string = false;
    } else if (text[i] == '"') {
      is_in_string = true;
    } else {
      for (const std::string_view word : kWords) {
        if (text.substr(i).starts_with(word)) {
          is_word = true;
          n_taken = word.size();
          break;
        }
      }
    }
    if (is_word) quoted += '"';
    quoted += text.substr(i, n_taken);
    if (is_word) quoted += '"';
    i += n_taken;
  }
  return quoted;
}

}  // namespace ft
