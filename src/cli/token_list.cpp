// A list of numbers, and nothing but numbers.
#include "cli/token_list.h"

#include <charconv>

#include "base/error.h"
#include "text/utf8.h"

namespace ft {

std::vector<int32_t> parse_token_list(std::string_view text, std::string_view where) {
  constexpr std::string_view kSeparators = ", \t\r\n";
  std::vector<int32_t> tokens;
  while (true) {
    const size_t begin = text.find_first_not_of(kSeparators);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(kSeparators));
    int32_t id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size() || id < 0) {
      bad_input("{}: entry {} is '{}', not a token id", where, tokens.size() + 1, excerpt(word));
    }
    tokens.push_back(id);
    text.remove_prefix(word.size());
  }
  if (tokens.empty()) bad_input("{}: no token ids", where);
  return tokens;
}

}  // namespace ft
