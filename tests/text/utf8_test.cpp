// Checking and lossy reading of UTF-8, with the examples of the Unicode standard (section 3.9).
#include "text/utf8.h"

#include <gtest/gtest.h>

#include "tests/text/random_text.h"

namespace ft {
namespace {

std::string lossy(std::string_view bytes) {
  LossyUtf8 utf8;
  std::string text;
  utf8.push(bytes, text);
  utf8.finish(text);
  return text;
}

TEST(Utf8, FindsTheFirstInvalidByte) {
  EXPECT_EQ(find_invalid_utf8(""), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("a\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x98\x80"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("\xF4\x8F\xBF\xBF\xEF\xBF\xBF\xED\x9F\xBF"),
            std::nullopt);  // U+10FFFF, U+FFFF, U+D7FF
  EXPECT_EQ(find_invalid_utf8("ab\x80"), 2U);
  EXPECT_EQ(find_invalid_utf8("a\xC0\x80"), 1U);         // overlong
  EXPECT_EQ(find_invalid_utf8("\xE0\x9F\xBF"), 0U);      // overlong
  EXPECT_EQ(find_invalid_utf8("\xED\xA0\x80"), 0U);      // a surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0U);  // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("x\xE4\xBD"), 1U);         // cut short
}

TEST(Utf8, CodePointsGoThereAndBack) {
  for (const char32_t c : {U'\0', U'a', U'\x7F', U'\x80', U'\u07FF', U'\u0800', U'\uFFFF',
                           U'\U00010000', U'\U0010FFFF'}) {
    std::string text = "x";
    append_code_point(text, c);
    EXPECT_EQ(find_invalid_utf8(text), std::nullopt);
    EXPECT_EQ(previous_code_point(text, text.size()), 1U);
    size_t position = 1;
    EXPECT_EQ(next_code_point(text, position), c);
    EXPECT_EQ(position, text.size());
  }
}

TEST(Utf8, ReplacesMaximalSubparts) {
  const std::string r(kReplacementCharacter);
  EXPECT_EQ(lossy("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a" + r + r + r + "b" + r + "c" + r + r + "d");
  EXPECT_EQ(lossy("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(lossy("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(lossy("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), r + r + r + r + r + "A" + r + r + "B");
  EXPECT_EQ(lossy("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), r + r + r + r + "A");
  EXPECT_EQ(lossy("a\xF0\x9F\x98"), "a" + r);
}

TEST(Utf8, LossyReadingDoesNotDependOnTheCuts) {
  RandomText random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::string bytes = i % 2 ? random.bytes(12) : random.valid(5).substr(random.below(3));
    LossyUtf8 utf8;
    std::string text;
    for (size_t from = 0; from < bytes.size();) {
      const size_t n = 1 + random.below(4);
      utf8.push(std::string_view(bytes).substr(from, n), text);
      EXPECT_EQ(find_invalid_utf8(text), std::nullopt);
      from += n;
    }
    utf8.finish(text);
    EXPECT_EQ(text, lossy(bytes));
  }
}

}  // namespace
}  // namespace ft
