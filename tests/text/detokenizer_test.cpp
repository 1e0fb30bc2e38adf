// Streaming equals decoding whole.
#include "text/detokenizer.h"

#include <chrono>

#include <gtest/gtest.h>

#include "tests/text/random_text.h"
#include "text/tokenizer.h"

namespace ft {
namespace {

using Ids = std::vector<int32_t>;

const Tokenizer& demo() {
  static const Tokenizer tokenizer = Tokenizer::load(std::string(FT_SOURCE_DIR) + "/models/demo");
  return tokenizer;
}

// Byte fallback in the manner of Llama 2: bytes that are not valid as a run become U+FFFD each.
const Tokenizer& fallback() {
  static const Tokenizer tokenizer = Tokenizer::parse(R"({
    "added_tokens": [{"id": 0, "content": "<s>", "special": true, "normalized": false}],
    "normalizer": null,
    "decoder": {"type": "Sequence", "decoders": [
      {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
      {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "model": {"type": "BPE", "byte_fallback": true, "merges": [], "vocab": {
      "<s>": 0, "▁": 1, "▁a": 2, "b": 3, "<0xE4>": 4, "<0xBD>": 5, "<0xA0>": 6, "<0x41>": 7, "é": 8, "<0xFF>": 9}}})",
                                                      "test");
  return tokenizer;
}

void expect_stream_equals_decode(const Tokenizer& tokenizer, const Ids& ids, bool skip_special) {
  Detokenizer detokenizer(tokenizer, skip_special);
  std::string shown;
  for (size_t n = 0; n <= ids.size(); ++n) {
    Detokenizer other(tokenizer, skip_special);  // the same stream, ended here
    std::string whole;
    for (size_t i = 0; i < n; ++i) whole += other.push(ids[i]);
    whole += other.finish();
    EXPECT_EQ(whole, tokenizer.decode(std::span(ids).first(n), skip_special));
    EXPECT_TRUE(whole.starts_with(shown));
    if (n == ids.size()) break;
    const std::string part = detokenizer.push(ids[n]);
    EXPECT_EQ(find_invalid_utf8(part), std::nullopt);
    shown += part;
  }
}

TEST(Detokenizer, EqualsDecodeForEverySequenceOfIds) {
  RandomText random(5);
  for (int i = 0; i < 300; ++i) {
    Ids ids;
    for (size_t n = random.below(14); n > 0; --n)
      ids.push_back(static_cast<int32_t>(random.below(12)) - 1);
    expect_stream_equals_decode(fallback(), ids, i % 2 == 0);
    for (int32_t& id : ids)
      id = static_cast<int32_t>(random.below(260)) - 2;  // mostly single bytes
    expect_stream_equals_decode(demo(), ids, i % 2 == 0);
  }
}

TEST(Detokenizer, ShowsACharacterWithItsLastByte) {
  const Ids ids = demo().encode("\xF0\x9F\x98\x80!");
  ASSERT_EQ(ids.size(), 5U);
  Detokenizer detokenizer(demo(), false);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(detokenizer.push(ids[i]), "");
  EXPECT_EQ(detokenizer.push(ids[3]), "\xF0\x9F\x98\x80");
  EXPECT_EQ(detokenizer.push(ids[4]), "!");
  EXPECT_EQ(detokenizer.push(ids[0]), "");
  EXPECT_EQ(detokenizer.finish(), "\uFFFD");
}

// The decodings of the reference implementation.
TEST(Detokenizer, ByteFallback) {
  EXPECT_EQ(fallback().decode(Ids{2, 4, 5, 6, 3}, true),
            "a\xE4\xBD\xA0"
            "b");
  EXPECT_EQ(fallback().decode(Ids{4, 5, 6, 9}, true), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(fallback().decode(Ids{4, 5}, true), "\uFFFD\uFFFD");
  EXPECT_EQ(fallback().decode(Ids{0, 1, 1, 2}, true), "  a");
  EXPECT_EQ(fallback().decode(Ids{0, 1, 1, 2}, false), "<s>   a");
  EXPECT_EQ(fallback().bytes_of(4), "\xE4");
  EXPECT_EQ(fallback().bytes_of(2), " a");
  EXPECT_EQ(fallback().bytes_of(0), "<s>");
}

TEST(Detokenizer, TimeGoesWithTheNumberOfIds) {
  const Ids letters = demo().encode("abc");
  Detokenizer detokenizer(demo(), false);
  size_t n_bytes = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000000; ++i) n_bytes += detokenizer.push(letters[0]).size();
  EXPECT_EQ(n_bytes, 1000000 * demo().bytes_of(letters[0]).size());
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            std::chrono::seconds(60));  // the square would take hours
}

}  // namespace
}  // namespace ft
