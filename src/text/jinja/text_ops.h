// What filters, methods and operators of strings share. All of them keep the origin of each byte.
#pragma once

#include <vector>

#include "text/jinja/text.h"

namespace ft::jinja {

enum class Side { kLeft, kRight, kBoth };

/// Python's strip family; no `chars`: white space.
TextRef strip(Run& run, const TextRef& text, Side side, const Text* chars);
/// Python's str.replace; `n_max` below 0: all.
TextRef replace(Run& run, const TextRef& text, const Text& from, const Text& to, int64_t n_max);
TextRef join(Run& run, const Text& separator, const std::vector<TextRef>& parts);
/// Python's str.splitlines.
std::vector<TextRef> split_lines(Run& run, const TextRef& text, bool keeps_ends);
/// `width` chars in all, the text in the middle (kBoth), at the right of the padding (kLeft) or at
/// its left (kRight).
TextRef pad(Run& run, const TextRef& text, int64_t width, Side side, const Text& fill);
/// & < > ' " as HTML spells them; the result is markup.
TextRef escape_html(Run& run, const Text& text);

}  // namespace ft::jinja
