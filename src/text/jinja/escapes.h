// The backslash escapes of string literals, as Python reads them.
#pragma once

#include <string>
#include <string_view>

namespace ft::jinja {

/// The value of a literal's inside. A malformed escape leaves a description in `problem`.
std::string resolve_escapes(std::string_view literal, std::string& problem);

/// 0 to 15, or -1.
int hex_digit(char c);

}  // namespace ft::jinja
