// utf8proc does the decomposition and the composition. The ordering of marks is done here, since
// the library's own takes quadratic time on long runs of marks.
#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/check.h"
#include "text/utf8.h"

namespace ft {
namespace {

// The reference's tables for normal forms are those of Unicode 9. Marks, compatibility characters
// and compositions that came later are plain characters to it, and what models were trained on. The
// ranges have these and neighbours to which it makes no difference; utf8proc knows up to
// Unicode 15.
struct CodePointRange {
  char32_t first;
  char32_t last;
};
constexpr CodePointRange kUnknownToReference[] = {
    {0x7FD, 0x7FD},     {0x897, 0x8D3},     {0x9FE, 0x9FE},     {0xC3C, 0xC3C},
    {0xD3B, 0xD3C},     {0xEBA, 0xEBA},     {0x1715, 0x1715},   {0x1ABF, 0x1AEB},
    {0x1DF6, 0x1DFA},   {0x32FF, 0x32FF},   {0xA7F1, 0xA7F4},   {0xA82C, 0xA82C},
    {0xAB69, 0xAB69},   {0x105C9, 0x105E4}, {0x10781, 0x107BA}, {0x10D24, 0x10F85},
    {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x11383, 0x113D0}, {0x1145E, 0x1145E},
    {0x11839, 0x11A99}, {0x11D42, 0x11D97}, {0x11F41, 0x11F42}, {0x16121, 0x1612F},
    {0x16D68, 0x16D6A}, {0x16FF0, 0x16FF1}, {0x1CCD6, 0x1CCF9}, {0x1E030, 0x1E2EF},
    {0x1E4EC, 0x1E6F5}, {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9}};

bool is_unknown_to_reference(char32_t code_point) {
  const auto ends_before = [](const CodePointRange& range, char32_t point) {
    return range.last < point;
  };
  const auto* range = std::lower_bound(std::begin(kUnknownToReference),
                                       std::end(kUnknownToReference), code_point, ends_before);
  return range != std::end(kUnknownToReference) && range->first <= code_point;
}

utf8proc_category_t category_of(char32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

utf8proc_option_t options_of(NormalForm form) {
  const int compose =
      form == NormalForm::kNfc || form == NormalForm::kNfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  const int compatible =
      form == NormalForm::kNfkc || form == NormalForm::kNfkd ? UTF8PROC_COMPAT : 0;
  return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | compose | compatible);
}

int combining_class(utf8proc_int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

// Whether a decomposed code point can be reordered with, or composed onto, what stands before it.
// Every second half of a canonical composition is a mark or a Hangul vowel or final.
bool leans_back(utf8proc_int32_t code_point) {
  const auto point = static_cast<char32_t>(code_point);
  return is_combining_mark(point) || (point >= 0x1160 && point <= 0x11FF);
}

// Code points of one piece, decomposed; normalises them in place and hands out their UTF-8.
class Piece {
 public:
  explicit Piece(utf8proc_option_t options) : options_(options) {}

  bool is_empty() const { return points_.empty(); }

  void append(const utf8proc_int32_t* points, size_t n) {
    points_.insert(points_.end(), points, points + n);
  }

  std::string_view finish() {
    order_marks();
    const auto n = utf8proc_normalize_utf32(
        points_.data(), static_cast<utf8proc_ssize_t>(points_.size()), options_);
    FT_CHECK(n >= 0, "utf8proc_normalize_utf32 has no error for valid code points");
    text_.clear();
    for (size_t i = 0; i < static_cast<size_t>(n); ++i)
      append_code_point(text_, static_cast<char32_t>(points_[i]));
    points_.clear();
    return text_;
  }

 private:
  void order_marks() {
    const auto is_starter = [](utf8proc_int32_t point) { return combining_class(point) == 0; };
    const auto by_class = [](utf8proc_int32_t a, utf8proc_int32_t b) {
      return combining_class(a) < combining_class(b);
    };
    for (auto from = points_.begin(); from != points_.end();) {
      from = std::find_if_not(from, points_.end(), is_starter);
      const auto to = std::find_if(from, points_.end(), is_starter);
      if (to - from > 1) std::stable_sort(from, to, by_class);
      from = to;
    }
  }

  utf8proc_option_t options_;
  std::vector<utf8proc_int32_t> points_;
  std::string text_;
};

size_t end_of_ascii(std::string_view text, size_t position) {
  while (position < text.size() && static_cast<unsigned char>(text[position]) < 0x80) ++position;
  return position;
}

}  // namespace

bool is_whitespace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_word_character(char32_t c) {
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:  // the joiners, and the circled and squared letters, which are alphabetic symbols
      return c == 0x200C || c == 0x200D || (c >= 0x24B6 && c <= 0x24E9) ||
             (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
             (c >= 0x1F170 && c <= 0x1F189);
  }
}

bool is_combining_mark(char32_t c) {
  const utf8proc_category_t category = category_of(c);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

size_t skip_whitespace(std::string_view text, size_t begin) {
  for (size_t next = begin; begin < text.size(); begin = next) {
    if (!is_whitespace(next_code_point(text, next))) break;
  }
  return begin;
}

size_t trim_whitespace_end(std::string_view text, size_t begin, size_t end) {
  while (end > begin) {
    const size_t last = previous_code_point(text, end);
    size_t position = last;
    if (!is_whitespace(next_code_point(text, position))) break;
    end = last;
  }
  return end;
}

void append_lowercase(std::string& text, char32_t code_point) {
  if (code_point ==
      0x130) {  // the one code point whose full lower case is longer than its simple one
    text += "i\xCC\x87";
  } else {
    append_code_point(
        text, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code_point))));
  }
}

void normalize_pieces(std::string_view text, NormalForm form,
                      const std::function<void(std::string_view, size_t, size_t)>& emit) {
  const utf8proc_option_t options = options_of(form);
  Piece piece(options);
  size_t begin = 0;  // of the piece
  const auto flush = [&](size_t end) {
    if (!piece.is_empty()) emit(piece.finish(), begin, end);
    begin = end;
  };
  for (size_t position = 0; position < text.size();) {
    const size_t ascii_end = end_of_ascii(text, position);
    if (ascii_end - position >
        1) {  // all but the last stay as they are: nothing can lean back on them
      flush(position);
      emit(text.substr(position, ascii_end - 1 - position), position, ascii_end - 1);
      position = begin = ascii_end - 1;
    }
    const size_t start = position;
    const char32_t code_point = next_code_point(text, position);
    if (is_unknown_to_reference(code_point)) {
      flush(start);
      emit(text.substr(start, position - start), start, position);
      begin = position;
      continue;
    }
    std::array<utf8proc_int32_t, 32> points{};  // the longest decomposition has 18
    int last_boundary_class = 0;
    const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code_point), points.data(),
                                           points.size(), options, &last_boundary_class);
    FT_CHECK(n > 0 && n <= static_cast<utf8proc_ssize_t>(points.size()), "a decomposition fits");
    if (!leans_back(points[0])) flush(start);
    piece.append(points.data(), static_cast<size_t>(n));
  }
  flush(text.size());
}

}  // namespace ft
