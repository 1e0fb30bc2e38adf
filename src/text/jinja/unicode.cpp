// Character classes by general category, and the case mappings that make one character several.
#include "text/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace ft::jinja {

namespace {

/// A character whose upper (title) case is more than one character, from the Unicode Character
/// Database's SpecialCasing.txt.
struct Special {
  uint32_t from;
  std::array<uint32_t, 3> to;  // ends with zeros
};

// clang-format off
constexpr std::array<Special, 102> kUpper = {{
    {0xDF, {0x53, 0x53}}, {0x149, {0x2BC, 0x4E}}, {0x1F0, {0x4A, 0x30C}},
    {0x390, {0x399, 0x308, 0x301}}, {0x3B0, {0x3A5, 0x308, 0x301}}, {0x587, {0x535, 0x552}},
    {0x1E96, {0x48, 0x331}}, {0x1E97, {0x54, 0x308}}, {0x1E98, {0x57, 0x30A}},
    {0x1E99, {0x59, 0x30A}}, {0x1E9A, {0x41, 0x2BE}}, {0x1F50, {0x3A5, 0x313}},
    {0x1F52, {0x3A5, 0x313, 0x300}}, {0x1F54, {0x3A5, 0x313, 0x301}},
    {0x1F56, {0x3A5, 0x313, 0x342}}, {0x1F80, {0x1F08, 0x399}}, {0x1F81, {0x1F09, 0x399}},
    {0x1F82, {0x1F0A, 0x399}}, {0x1F83, {0x1F0B, 0x399}}, {0x1F84, {0x1F0C, 0x399}},
    {0x1F85, {0x1F0D, 0x399}}, {0x1F86, {0x1F0E, 0x399}}, {0x1F87, {0x1F0F, 0x399}},
    {0x1F88, {0x1F08, 0x399}}, {0x1F89, {0x1F09, 0x399}}, {0x1F8A, {0x1F0A, 0x399}},
    {0x1F8B, {0x1F0B, 0x399}}, {0x1F8C, {0x1F0C, 0x399}}, {0x1F8D, {0x1F0D, 0x399}},
    {0x1F8E, {0x1F0E, 0x399}}, {0x1F8F, {0x1F0F, 0x399}}, {0x1F90, {0x1F28, 0x399}},
    {0x1F91, {0x1F29, 0x399}}, {0x1F92, {0x1F2A, 0x399}}, {0x1F93, {0x1F2B, 0x399}},
    {0x1F94, {0x1F2C, 0x399}}, {0x1F95, {0x1F2D, 0x399}}, {0x1F96, {0x1F2E, 0x399}},
    {0x1F97, {0x1F2F, 0x399}}, {0x1F98, {0x1F28, 0x399}}, {0x1F99, {0x1F29, 0x399}},
    {0x1F9A, {0x1F2A, 0x399}}, {0x1F9B, {0x1F2B, 0x399}}, {0x1F9C, {0x1F2C, 0x399}},
    {0x1F9D, {0x1F2D, 0x399}}, {0x1F9E, {0x1F2E, 0x399}}, {0x1F9F, {0x1F2F, 0x399}},
    {0x1FA0, {0x1F68, 0x399}}, {0x1FA1, {0x1F69, 0x399}}, {0x1FA2, {0x1F6A, 0x399}},
    {0x1FA3, {0x1F6B, 0x399}}, {0x1FA4, {0x1F6C, 0x399}}, {0x1FA5, {0x1F6D, 0x399}},
    {0x1FA6, {0x1F6E, 0x399}}, {0x1FA7, {0x1F6F, 0x399}}, {0x1FA8, {0x1F68, 0x399}},
    {0x1FA9, {0x1F69, 0x399}}, {0x1FAA, {0x1F6A, 0x399}}, {0x1FAB, {0x1F6B, 0x399}},
    {0x1FAC, {0x1F6C, 0x399}}, {0x1FAD, {0x1F6D, 0x399}}, {0x1FAE, {0x1F6E, 0x399}},
    {0x1FAF, {0x1F6F, 0x399}}, {0x1FB2, {0x1FBA, 0x399}}, {0x1FB3, {0x391, 0x399}},
    {0x1FB4, {0x386, 0x399}}, {0x1FB6, {0x391, 0x342}}, {0x1FB7, {0x391, 0x342, 0x399}},
    {0x1FBC, {0x391, 0x399}}, {0x1FC2, {0x1FCA, 0x399}}, {0x1FC3, {0x397, 0x399}},
    {0x1FC4, {0x389, 0x399}}, {0x1FC6, {0x397, 0x342}}, {0x1FC7, {0x397, 0x342, 0x399}},
    {0x1FCC, {0x397, 0x399}}, {0x1FD2, {0x399, 0x308, 0x300}}, {0x1FD3, {0x399, 0x308, 0x301}},
    {0x1FD6, {0x399, 0x342}}, {0x1FD7, {0x399, 0x308, 0x342}}, {0x1FE2, {0x3A5, 0x308, 0x300}},
    {0x1FE3, {0x3A5, 0x308, 0x301}}, {0x1FE4, {0x3A1, 0x313}}, {0x1FE6, {0x3A5, 0x342}},
    {0x1FE7, {0x3A5, 0x308, 0x342}}, {0x1FF2, {0x1FFA, 0x399}}, {0x1FF3, {0x3A9, 0x399}},
    {0x1FF4, {0x38F, 0x399}}, {0x1FF6, {0x3A9, 0x342}}, {0x1FF7, {0x3A9, 0x342, 0x399}},
    {0x1FFC, {0x3A9, 0x399}}, {0xFB00, {0x46, 0x46}}, {0xFB01, {0x46, 0x49}},
    {0xFB02, {0x46, 0x4C}}, {0xFB03, {0x46, 0x46, 0x49}}, {0xFB04, {0x46, 0x46, 0x4C}},
    {0xFB05, {0x53, 0x54}}, {0xFB06, {0x53, 0x54}}, {0xFB13, {0x544, 0x546}},
    {0xFB14, {0x544, 0x535}}, {0xFB15, {0x544, 0x53B}}, {0xFB16, {0x54E, 0x546}},
    {0xFB17, {0x544, 0x53D}}}};
constexpr std::array<Special, 48> kTitle = {{
    {0xDF, {0x53, 0x73}}, {0x149, {0x2BC, 0x4E}}, {0x1F0, {0x4A, 0x30C}},
    {0x390, {0x399, 0x308, 0x301}}, {0x3B0, {0x3A5, 0x308, 0x301}}, {0x587, {0x535, 0x582}},
    {0x1E96, {0x48, 0x331}}, {0x1E97, {0x54, 0x308}}, {0x1E98, {0x57, 0x30A}},
    {0x1E99, {0x59, 0x30A}}, {0x1E9A, {0x41, 0x2BE}}, {0x1F50, {0x3A5, 0x313}},
    {0x1F52, {0x3A5, 0x313, 0x300}}, {0x1F54, {0x3A5, 0x313, 0x301}},
    {0x1F56, {0x3A5, 0x313, 0x342}}, {0x1FB2, {0x1FBA, 0x345}}, {0x1FB4, {0x386, 0x345}},
    {0x1FB6, {0x391, 0x342}}, {0x1FB7, {0x391, 0x342, 0x345}}, {0x1FC2, {0x1FCA, 0x345}},
    {0x1FC4, {0x389, 0x345}}, {0x1FC6, {0x397, 0x342}}, {0x1FC7, {0x397, 0x342, 0x345}},
    {0x1FD2, {0x399, 0x308, 0x300}}, {0x1FD3, {0x399, 0x308, 0x301}}, {0x1FD6, {0x399, 0x342}},
    {0x1FD7, {0x399, 0x308, 0x342}}, {0x1FE2, {0x3A5, 0x308, 0x300}},
    {0x1FE3, {0x3A5, 0x308, 0x301}}, {0x1FE4, {0x3A1, 0x313}}, {0x1FE6, {0x3A5, 0x342}},
    {0x1FE7, {0x3A5, 0x308, 0x342}}, {0x1FF2, {0x1FFA, 0x345}}, {0x1FF4, {0x38F, 0x345}},
    {0x1FF6, {0x3A9, 0x342}}, {0x1FF7, {0x3A9, 0x342, 0x345}}, {0xFB00, {0x46, 0x66}},
    {0xFB01, {0x46, 0x69}}, {0xFB02, {0x46, 0x6C}}, {0xFB03, {0x46, 0x66, 0x69}},
    {0xFB04, {0x46, 0x66, 0x6C}}, {0xFB05, {0x53, 0x74}}, {0xFB06, {0x53, 0x74}},
    {0xFB13, {0x544, 0x576}}, {0xFB14, {0x544, 0x565}}, {0xFB15, {0x544, 0x56B}},
    {0xFB16, {0x54E, 0x576}}, {0xFB17, {0x544, 0x56D}}}};
// clang-format on

struct Range {
  uint32_t first, last;
};

// Lower case without being letters of that category (Other_Lowercase).
// clang-format off
constexpr Range kOtherLower[] = {
    {0xAA, 0xAA}, {0xBA, 0xBA}, {0x2B0, 0x2B8}, {0x2C0, 0x2C1}, {0x2E0, 0x2E4}, {0x345, 0x345},
    {0x37A, 0x37A}, {0x1D2C, 0x1D6A}, {0x1D78, 0x1D78}, {0x1D9B, 0x1DBF}, {0x2071, 0x2071},
    {0x207F, 0x207F}, {0x2090, 0x209C}, {0x2170, 0x217F}, {0x24D0, 0x24E9}, {0x2C7C, 0x2C7D},
    {0xA69C, 0xA69D}, {0xA770, 0xA770}, {0xA7F8, 0xA7F9}, {0xAB5C, 0xAB5F}, {0x10780, 0x10780},
    {0x10783, 0x10785}, {0x10787, 0x107B0}, {0x107B2, 0x107BA}};
// clang-format on
// The same for upper case (Other_Uppercase).
// clang-format off
constexpr Range kOtherUpper[] = {
    {0x2160, 0x216F}, {0x24B6, 0x24CF}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
// clang-format on
// Digits that are not decimal: superscripts, circled digits and the like (Numeric_Type=Digit).
// clang-format off
constexpr Range kOtherDigits[] = {
    {0xB2, 0xB3}, {0xB9, 0xB9}, {0x1369, 0x1371}, {0x19DA, 0x19DA}, {0x2070, 0x2070},
    {0x2074, 0x2079}, {0x2080, 0x2089}, {0x2460, 0x2468}, {0x2474, 0x247C}, {0x2488, 0x2490},
    {0x24EA, 0x24EA}, {0x24F5, 0x24FD}, {0x24FF, 0x24FF}, {0x2776, 0x277E}, {0x2780, 0x2788},
    {0x278A, 0x2792}, {0x10A40, 0x10A43}, {0x10E60, 0x10E68}, {0x11052, 0x1105A}, {0x1F100, 0x1F10A}};
// clang-format on

constexpr uint32_t kCapitalSigma = 0x3A3, kSigma = 0x3C3, kFinalSigma = 0x3C2;
constexpr uint32_t kCapitalDottedI = 0x130, kDotAbove = 0x307;

utf8proc_category_t category(uint32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

uint32_t simple(utf8proc_int32_t (*mapping)(utf8proc_int32_t), uint32_t c) {
  return static_cast<uint32_t>(mapping(static_cast<utf8proc_int32_t>(c)));
}

bool is_in(std::span<const Range> ranges, uint32_t c) {
  auto range = std::lower_bound(ranges.begin(), ranges.end(), c,
                                [](const Range& r, uint32_t key) { return r.last < key; });
  return range != ranges.end() && range->first <= c;
}

bool is_one_of(uint32_t c, std::u32string_view set) {
  return set.find(static_cast<char32_t>(c)) != std::u32string_view::npos;
}

bool is_case_ignorable(uint32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return is_one_of(c,
                       U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55"
                       U"\uFF07\uFF0E\uFF1A");
  }
}

// A sigma is final behind a cased letter and not in front of one, marks in between not counted.
bool is_final_sigma(std::string_view bytes, size_t begin, size_t end) {
  bool is_behind_letter = false;
  while (begin > 0 && !is_behind_letter) {
    begin = previous_code_point(bytes, begin);
    size_t at = begin;
    uint32_t c = next_code_point(bytes, at);
    if (is_case_ignorable(c)) continue;
    if (!is_cased(c)) return false;
    is_behind_letter = true;
  }
  if (!is_behind_letter) return false;
  while (end < bytes.size()) {
    uint32_t c = next_code_point(bytes, end);
    if (!is_case_ignorable(c)) return !is_cased(c);
  }
  return true;
}

class CaseMapper {
 public:
  CaseMapper(Run& run, const Text& text) : text_(text), out_(run) {}

  /// Appends the next char in the case wanted, and moves on.
  void map(Case wanted) {
    size_t begin = position_;
    uint32_t c = next_code_point(text_.bytes(), position_);
    while (text_.parts()[part_].end <= begin) ++part_;
    if (wanted == Case::kLower) {
      lower(c, begin);
    } else {
      raise(c, wanted);
    }
  }
  /// What stands outside of these bytes does not decide how a sigma ends.
  void set_context(size_t begin, size_t end) {
    context_begin_ = begin;
    context_end_ = end;
  }
  size_t position() const { return position_; }
  bool is_done() const { return position_ >= text_.size(); }
  uint32_t peek() const {
    size_t at = position_;
    return next_code_point(text_.bytes(), at);
  }
  TextRef finish() { return out_.finish(); }

 private:
  void put(uint32_t c) { out_.append_char(c, text_.parts()[part_].origin); }

  void lower(uint32_t c, size_t begin) {
    if (c == kCapitalSigma) {
      std::string_view context = text_.bytes().substr(0, context_end_).substr(context_begin_);
      bool is_final = is_final_sigma(context, begin - context_begin_, position_ - context_begin_);
      put(is_final ? kFinalSigma : kSigma);
    } else if (c == kCapitalDottedI) {
      put('i');
      put(kDotAbove);
    } else {
      put(simple(utf8proc_tolower, c));
    }
  }

  void raise(uint32_t c, Case wanted) {
    auto less = [](const Special& row, uint32_t key) { return row.from < key; };
    std::span<const Special> table;
    if (wanted == Case::kUpper) {
      table = kUpper;
    } else {
      table = kTitle;
    }
    auto row = std::lower_bound(table.begin(), table.end(), c, less);
    if (row == table.end() || row->from != c) {
      put(simple(wanted == Case::kUpper ? utf8proc_toupper : utf8proc_totitle, c));
      return;
    }
    for (uint32_t part : row->to) {
      if (part != 0) put(part);
    }
  }

  const Text& text_;
  size_t position_ = 0;
  size_t context_begin_ = 0;
  size_t context_end_ = std::string_view::npos;
  size_t part_ = 0;
  TextBuilder out_;
};

}  // namespace

bool is_space(uint32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 ||
         (c >= 0x80 && category(c) == UTF8PROC_CATEGORY_ZS) || c == 0x2028 || c == 0x2029;
}

bool is_line_end(uint32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

bool is_alpha(uint32_t c) {
  auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_ND;
}

bool is_digit(uint32_t c) {
  return is_decimal(c) || is_in(kOtherDigits, c);
}

bool is_numeric(uint32_t c) {
  auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_upper(uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LU || is_in(kOtherUpper, c);
}

bool is_lower(uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LL || is_in(kOtherLower, c);
}

bool is_title(uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LT;
}

bool is_cased(uint32_t c) {
  return is_upper(c) || is_lower(c) || is_title(c);
}

bool is_printable(uint32_t c) {
  if (c < 0x80) return c >= 0x20 && c != 0x7F;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

int digit_value(uint32_t c) {
  // Decimal digits come in runs of ten from zero to nine.
  uint32_t first = c;
  while (is_decimal(first - 1)) --first;
  return static_cast<int>((c - first) % 10);
}

TextRef with_case(Run& run, const Text& text, Case wanted) {
  CaseMapper mapper(run, text);
  bool is_in_word = false;
  while (!mapper.is_done()) {
    bool is_letter = wanted == Case::kTitle && is_cased(mapper.peek());
    mapper.map(wanted == Case::kTitle && is_in_word ? Case::kLower : wanted);
    is_in_word = is_letter;
  }
  return mapper.finish();
}

TextRef capitalized(Run& run, const Text& text) {
  CaseMapper mapper(run, text);
  if (!mapper.is_done()) mapper.map(Case::kTitle);
  while (!mapper.is_done()) mapper.map(Case::kLower);
  return mapper.finish();
}

TextRef words_capitalized(Run& run, const Text& text, bool (*separates)(uint32_t)) {
  CaseMapper mapper(run, text);
  while (!mapper.is_done()) {
    if (separates(mapper.peek())) {
      mapper.map(Case::kUpper);  // separators have no case
      continue;
    }
    size_t end = mapper.position();
    for (size_t after = end; end < text.size() && !separates(next_code_point(text.bytes(), after));
         end = after) {
    }
    mapper.map(Case::kUpper);
    mapper.set_context(mapper.position(), end);
    while (mapper.position() < end) mapper.map(Case::kLower);
  }
  return mapper.finish();
}

size_t skip_space(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    size_t after = begin;
    if (!is_space(next_code_point(text, after))) break;
    begin = after;
  }
  return begin;
}

size_t trim_space_end(std::string_view text, size_t end) {
  while (end > 0) {
    size_t before = previous_code_point(text, end);
    size_t at = before;
    if (!is_space(next_code_point(text, at))) break;
    end = before;
  }
  return end;
}

}  // namespace ft::jinja
