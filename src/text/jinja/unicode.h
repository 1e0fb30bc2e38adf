// What Python's str knows about characters: classes and case mappings.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/jinja/text.h"

namespace ft::jinja {

bool is_space(uint32_t c);    // str.isspace
bool is_alpha(uint32_t c);    // str.isalpha
bool is_decimal(uint32_t c);  // str.isdecimal
bool is_digit(uint32_t c);    // str.isdigit, superscripts included
bool is_numeric(uint32_t c);  // str.isnumeric, as far as the general category tells
bool is_upper(uint32_t c);
bool is_lower(uint32_t c);
bool is_title(uint32_t c);
bool is_cased(uint32_t c);
bool is_printable(uint32_t c);  // repr() shows it as it is
bool is_line_end(uint32_t c);   // str.splitlines
/// The digit 0 to 9 that a decimal character stands for, of any script.
int digit_value(uint32_t c);

enum class Case { kLower, kUpper, kTitle };  // kTitle: capitals at the start of words

/// str.lower(), str.upper(), str.title() with the full mappings of Unicode ("ß" gives "SS"). Keeps
/// the origin of each char.
TextRef with_case(Run& run, const Text& text, Case wanted);
/// First char in title case, the others in lower case.
TextRef capitalized(Run& run, const Text& text);

/// In each word between separators the first char in upper case, the others in lower case.
TextRef words_capitalized(Run& run, const Text& text, bool (*separates)(uint32_t));

/// The first byte at or behind `begin` that is no white space; the end of `text` up to `end`
/// without white space.
size_t skip_space(std::string_view text, size_t begin);
size_t trim_space_end(std::string_view text, size_t end);

}  // namespace ft::jinja
