// The normalizers of a tokenizer.json, as a flat list of steps.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "text/pattern.h"
#include "text/unicode.h"

namespace ft {

/// Text of which each byte knows whether it may be part of a special token.
struct MarkedText {
  std::string text;
  std::string marks;  // a byte for each of `text`: 1 if it may, 0 if not; empty if all may

  bool may_be_special(size_t begin, size_t end) const;
  MarkedText part(size_t begin, size_t end) const;
};

struct NormalizeForm {
  NormalForm form;
};
struct NormalizeReplace {
  Pattern pattern;
  std::string content;
};
struct NormalizePrepend {
  std::string prefix;
};
struct NormalizeStrip {
  bool left;
  bool right;
};
struct NormalizeLowercase {};
struct NormalizeStripAccents {};
struct NormalizeNmt {};        // drops control characters, makes all kinds of blanks a space
struct NormalizeByteLevel {};  // spells each byte by a character

using NormalizerStep =
    std::variant<NormalizeForm, NormalizeReplace, NormalizePrepend, NormalizeStrip,
                 NormalizeLowercase, NormalizeStripAccents, NormalizeNmt, NormalizeByteLevel>;

/// Applies the steps in order. What a step makes of several bytes may be special only where all of
/// them may.
MarkedText normalize(const std::vector<NormalizerStep>& steps, MarkedText text);

}  // namespace ft
