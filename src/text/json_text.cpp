// Counts brackets outside of strings.
#include "text/json_text.h"

namespace ft {

void check_json_depth(std::string_view text, const std::string& where) {
  constexpr int kMaxDepth = 64;
  int depth = 0;
  bool is_in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      is_in_string = !is_in_string;
    } else if (!is_in_string && (c == '[' || c == '{')) {
      if (++depth > kMaxDepth) bad_input("{}: nested deeper than {} levels", where, kMaxDepth);
    } else if (!is_in_string && (c == ']' || c == '}')) {
      --depth;
    }
  }
}

}  // namespace ft
