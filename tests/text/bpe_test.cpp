// Byte pair encoding against the plain formulation, and its cost on words without end.
#include "text/bpe.h"

#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/text/random_text.h"
#include "tests/text/small_stack.h"
#include "text/tokenizer.h"

namespace ft {
namespace {

using Ids = std::vector<int32_t>;

Ids encode(const Bpe& bpe, std::string_view word) {
  Ids ids;
  Bpe::Scratch scratch;
  bpe.encode_word(word, ids, scratch);
  return ids;
}

BpeSpec spec_of(std::vector<std::string> pieces,
                std::vector<std::pair<std::string, std::string>> merges) {
  BpeSpec spec;
  for (size_t i = 0; i < pieces.size(); ++i)
    spec.vocab.emplace_back(pieces[i], static_cast<int64_t>(i));
  spec.merges = std::move(merges);
  return spec;
}

// Merges the leftmost pair of lowest rank, again and again.
std::vector<std::string> merge_plainly(
    std::string_view word, const std::vector<std::pair<std::string, std::string>>& merges) {
  std::vector<std::string> parts;
  for (const char letter : word) parts.emplace_back(1, letter);
  while (true) {
    size_t best_rank = merges.size();
    size_t best = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      for (size_t rank = 0; rank < best_rank; ++rank) {
        if (merges[rank].first == parts[i] && merges[rank].second == parts[i + 1]) {
          best_rank = rank;
          best = i;
        }
      }
    }
    if (best_rank == merges.size()) return parts;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

TEST(Bpe, EqualsThePlainFormulationOnRandomMerges) {
  RandomText random(2);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> pieces = {"a", "b", "c"};
    std::vector<std::pair<std::string, std::string>> merges;
    for (size_t i = 0; i < 12; ++i) {
      const std::string left = pieces[random.below(pieces.size())];
      const std::string right = pieces[random.below(pieces.size())];
      if (std::find(pieces.begin(), pieces.end(), left + right) != pieces.end()) continue;
      pieces.push_back(left + right);
      merges.emplace_back(left, right);
    }
    const Bpe bpe(spec_of(pieces, merges), "test");
    for (int i = 0; i < 20; ++i) {
      std::string word;
      for (size_t n = 1 + random.below(30); n > 0; --n) word.push_back("abc"[random.below(3)]);
      std::vector<std::string> spelled;
      for (const int32_t id : encode(bpe, word)) spelled.emplace_back(bpe.vocabulary().piece(id));
      EXPECT_EQ(spelled, merge_plainly(word, merges)) << word;
    }
  }
}

TEST(Bpe, IgnoreMergesTakesAWholeWord) {
  BpeSpec spec = spec_of({"a", "b", "c", "abc"}, {});
  EXPECT_EQ(encode(Bpe(spec, "test"), "abc"), (Ids{0, 1, 2}));
  spec.ignore_merges = true;
  EXPECT_EQ(encode(Bpe(spec, "test"), "abc"), (Ids{3}));
  EXPECT_EQ(encode(Bpe(spec, "test"), "abca"), (Ids{0, 1, 2, 0}));
}

// Expected ids of this and the next two: the reference implementation, given the same model.
TEST(Bpe, UnknownCharactersAreLeftOutOrReplaced) {
  BpeSpec spec = spec_of({"<unk>", "a"}, {});
  EXPECT_EQ(encode(Bpe(spec, "test"), "xaxy"), (Ids{1}));
  spec.unk_token = "<unk>";
  EXPECT_EQ(encode(Bpe(spec, "test"), "xaxy"), (Ids{0, 1, 0, 0}));
  spec.fuse_unk = true;
  EXPECT_EQ(encode(Bpe(spec, "test"), "xaxy"), (Ids{0, 1, 0}));
  spec.unk_token = "<none>";
  const Bpe without(spec, "test");
  EXPECT_EQ(encode(without, "a"), (Ids{1}));
  EXPECT_THROW(encode(without, "x"), Error);
}

TEST(Bpe, UnknownCharactersFallBackToAllOfTheirBytesOrNone) {
  BpeSpec spec = spec_of({"a", "<0xE4>", "<0xBD>", "<0xA0>", "b"}, {});
  spec.byte_fallback = true;
  spec.unk_token = "a";
  const Bpe bpe(spec, "test");
  EXPECT_EQ(encode(bpe,
                   "\xE4\xBD\xA0"
                   "b"),
            (Ids{1, 2, 3, 4}));
  EXPECT_EQ(encode(bpe,
                   "\xE4\xBD\xA1"
                   "b"),
            (Ids{0, 4}));
}

TEST(Bpe, PrefixAndSuffixMarkTheInsideAndTheEndOfWords) {
  BpeSpec spec = spec_of({"a", "##b", "##b</w>", "ab", "ab</w>", "a</w>", "##c"},
                         {{"a", "##b"}, {"a", "##b</w>"}});
  spec.continuing_subword_prefix = "##";
  spec.end_of_word_suffix = "</w>";
  const Bpe bpe(spec, "test");
  EXPECT_EQ(encode(bpe, "ab"), (Ids{4}));
  EXPECT_EQ(encode(bpe, "a"), (Ids{5}));
  EXPECT_EQ(encode(bpe, "abab"), (Ids{3, 2}));
  EXPECT_EQ(encode(bpe, "acb"), (Ids{0, 6, 2}));
}

void expect_refusal(const BpeSpec& spec, const std::string& part_of_message) {
  try {
    const Bpe bpe(spec, "file");
    ADD_FAILURE() << "accepted; expected: " << part_of_message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_THAT(error.what(), testing::HasSubstr(part_of_message));
  }
}

TEST(Bpe, RefusesBadVocabularies) {
  const auto with_ids = [](int64_t a, int64_t b) {
    BpeSpec spec;
    spec.vocab = {{"a", a}, {"b", b}};
    return spec;
  };
  expect_refusal(with_ids(0, -1), "piece 'b' has the id -1");
  expect_refusal(with_ids(0, 0), "the same id 0");
  expect_refusal(with_ids(0, int64_t{1} << 30), "1073741824");
  expect_refusal(with_ids(0, int64_t{1} << 40), "1099511627776");
  expect_refusal(with_ids(INT64_MAX, 0), "9223372036854775807");
  expect_refusal(with_ids(INT64_MIN, 0), "-9223372036854775808");
  expect_refusal(spec_of({"a", "b"}, {{"a", "b"}}), "merge 0 ('a' 'b') needs the piece 'ab'");
  expect_refusal(spec_of({"a", "ab"}, {{"a", "b"}}), "needs the piece 'b'");
  BpeSpec prefixed = spec_of({"a", "b", "ab"}, {{"a", "b"}});
  prefixed.continuing_subword_prefix = "##";
  expect_refusal(prefixed, "shorter than continuing_subword_prefix");
}

TEST(Bpe, HolesBetweenIdsAreUnknownIds) {
  BpeSpec spec;
  spec.vocab = {{"a", 0}, {"b", 1000}};
  const Bpe bpe(spec, "test");
  EXPECT_EQ(bpe.vocabulary().n_ids(), 1001);
  EXPECT_TRUE(bpe.vocabulary().contains(1000));
  EXPECT_FALSE(bpe.vocabulary().contains(500));
  EXPECT_FALSE(bpe.vocabulary().contains(1001));
  EXPECT_FALSE(bpe.vocabulary().contains(-1));
}

std::string repeat(std::string_view part, size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text += part;
  return text;
}

// "x", "xx", "xxxx", ... up to 2^10 of them, as vocabularies have for blanks: every level merges.
BpeSpec doubling_spec(const std::string& character) {
  std::vector<std::string> pieces = {character};
  std::vector<std::pair<std::string, std::string>> merges;
  for (int i = 0; i < 10; ++i) {
    merges.emplace_back(pieces.back(), pieces.back());
    pieces.push_back(pieces.back() + pieces.back());
  }
  return spec_of(pieces, merges);
}

TEST(Bpe, LongWordsTakeALinearNumberOfHeapOperations) {
  const std::vector<std::pair<std::string, size_t>> words = {
      {"Z", 131072}, {"\xE4\xB8\x80", 26000}, {" ", 100000}};
  for (const auto& [character, n] : words) {
    const Bpe bpe(doubling_spec(character), "test");
    for (const size_t n_characters : {n / 16, n}) {
      Bpe::Scratch scratch;
      Ids ids;
      bpe.encode_word(repeat(character, n_characters), ids, scratch);
      std::string decoded;
      for (const int32_t id : ids) decoded += bpe.vocabulary().piece(id);
      EXPECT_EQ(decoded, repeat(character, n_characters));
      EXPECT_LT(ids.size(), n_characters / 1024 + 20);
      // Each is at most log n comparisons, so the whole is n log n. A merge pushes twice and looks
      // up thrice.
      EXPECT_LT(scratch.n_operations, 16 * n_characters);
      EXPECT_GT(scratch.n_operations, n_characters);  // the counter counts
    }
  }
}

TEST(Bpe, LongTextsNeedAStackOf256KiB) {
  const Tokenizer tokenizer = Tokenizer::load(std::string(FT_SOURCE_DIR) + "/models/demo");
  const std::vector<std::string> texts = {repeat("Z", 131072), repeat("\xE4\xB8\x80", 26000),
                                          repeat(" ", 100000), repeat("e\xCC\x81", 50000),
                                          repeat("<|im_end|>", 10000)};
  for (const std::string& text : texts) {
    std::string decoded;
    run_on_small_stack([&] { decoded = tokenizer.decode(tokenizer.encode(text), false); });
    EXPECT_TRUE(decoded == text) << text.substr(0, 20);
  }
}

}  // namespace
}  // namespace ft
