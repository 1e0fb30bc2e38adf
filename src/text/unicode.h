// Properties of code points, and the four normal forms, through utf8proc.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ft {

bool is_whitespace(char32_t code_point);  // the property White_Space
bool is_word_character(
    char32_t code_point);  // \w of UTS 18: letters, marks, digits, connectors, joiners
bool is_combining_mark(char32_t code_point);  // category M

/// The first place at or behind `begin` that is no white space, and the last at or in front of `end`
/// that has none in front of it, down to `begin`.
size_t skip_whitespace(std::string_view text, size_t begin);
size_t trim_whitespace_end(std::string_view text, size_t begin, size_t end);

/// Lower case of one code point, which can be two (U+0130).
void append_lowercase(std::string& text, char32_t code_point);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };

/// Brings valid UTF-8 to a normal form, in the smallest pieces that do not depend on their
/// neighbours; `emit` receives each normalised piece with the begin and end of the text that it
/// came from. Time n log n for every input.
void normalize_pieces(std::string_view text, NormalForm form,
                      const std::function<void(std::string_view, size_t, size_t)>& emit);

}  // namespace ft
