// Counts brackets outside of strings.
#include "text/json_text.h"

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

}  // namespace ft
