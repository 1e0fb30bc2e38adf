// The shipped tokenizer against the reference's ids, special tokens and their provenance, and round
// trips.
#include "text/tokenizer.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/text/random_text.h"

namespace ft {
namespace {

using Ids = std::vector<int32_t>;
using nlohmann::json;

const std::filesystem::path kDemo = std::filesystem::path(FT_SOURCE_DIR) / "models" / "demo";

const Tokenizer& demo() {
  static const Tokenizer tokenizer = Tokenizer::load(kDemo);
  return tokenizer;
}

Ids encode(const Tokenizer& tokenizer, const std::vector<Segment>& segments,
           Tokenizer::EncodeOptions options = {}) {
  return tokenizer.encode(std::span<const Segment>(segments), options);
}

TEST(DemoTokenizer, PromptsHaveTheIdsOfTheReferenceFile) {
  std::ifstream stream(kDemo / "reference.json");
  const json reference = json::parse(stream);
  ASSERT_EQ(reference.size(), 7U);
  for (const json& entry : reference) {
    EXPECT_EQ(json(demo().encode(entry["prompt"].get<std::string>())), entry["prompt_ids"])
        << entry["prompt"];
    EXPECT_EQ(demo().decode(entry["greedy_ids"].get<Ids>(), true),
              entry["greedy_text"].get<std::string>());
  }
}

// Made by the npm package `tokenizers` 0.23.2.
TEST(DemoTokenizer, IdsAreThoseOfTheReferenceImplementation) {
  const std::vector<std::pair<std::string, Ids>> expected = {
      {"", {}},
      {"Hello, world!", {42, 455, 81, 14, 1610, 3}},
      {"  two  blanks\n\n\tand a tab",
       {223, 678, 223, 589, 1426, 85, 201, 201, 200, 412, 259, 1674}},
      {"It's DON'T 1234", {1891, 456, 580, 49, 48, 9, 54, 963, 20, 21, 22}},
      {"naïve café 世界 😀", {80,  67,  130, 110, 327, 906, 72,  130, 105, 223, 163,
                             119, 247, 166, 246, 237, 223, 175, 256, 249, 225}},
      {"a<|im_end|> <|im_st", {67, 2, 223, 30, 94, 330, 65, 333}},
      {"é e\u0301", {130, 105, 297, 139, 226}},
      {std::string("\0\x7F\uFFFD", 5), {191, 224, 174, 126, 124}},
  };
  for (const auto& [text, ids] : expected) EXPECT_EQ(demo().encode(text), ids) << text;
  EXPECT_EQ(demo().decode(Ids{1, 382, 2, 33}, true), "us?");
  EXPECT_EQ(demo().decode(Ids{197, 3, 161, 177}, false), "\x06!\uFFFD\uFFFD");
}

TEST(DemoTokenizer, KnowsItsPieces) {
  EXPECT_EQ(demo().n_vocab(), 4096);
  EXPECT_EQ(demo().special_ids(), (Ids{0, 1, 2}));
  EXPECT_EQ(demo().description(), "byte-level BPE, 4,096 tokens, 3 special");
  EXPECT_EQ(demo().piece(259), "Ġa");
  EXPECT_EQ(demo().bytes_of(259), " a");
  EXPECT_EQ(demo().bytes_of(201), "\n");
  EXPECT_EQ(demo().bytes_of(2), "<|im_end|>");
  EXPECT_EQ(demo().bytes_of(161), "\xE2");
  EXPECT_EQ(demo().id_of("<|im_end|>"), 2);
  EXPECT_EQ(demo().id_of("Ġthe"), 268);
  EXPECT_EQ(demo().id_of("nothing of the kind"), std::nullopt);
  EXPECT_TRUE(demo().is_special(2));
  EXPECT_FALSE(demo().is_special(3));
  for (const int32_t id : {-1, 4096, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(demo().piece(id), "");
    EXPECT_EQ(demo().bytes_of(id), "");
    EXPECT_FALSE(demo().is_special(id));
    EXPECT_EQ(demo().decode(Ids{id, 67, id}, false), "a");
  }
}

TEST(DemoTokenizer, EveryValidTextComesBack) {
  RandomText random(3);
  for (int i = 0; i < 500; ++i) {
    const std::string text = random.valid(random.below(200));
    const Ids ids = demo().encode(text);
    EXPECT_EQ(demo().decode(ids, false), text);
    std::string bytes;
    for (const int32_t id : ids) bytes += demo().bytes_of(id);
    EXPECT_EQ(bytes, text);
  }
}

TEST(DemoTokenizer, InvalidTextIsRefusedWithItsOffset) {
  try {
    demo().encode("abc\xFF");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_THAT(error.what(), testing::HasSubstr("byte 0xff at offset 3 of 4"));
  }
  EXPECT_NO_THROW(
      encode(demo(), {{"\xC3", true}, {"\xA9", false}}));  // a character may span segments
  EXPECT_THROW(encode(demo(), {{"\xC3", true}, {"a", false}}), Error);
}

TEST(Provenance, SpecialTokensOfContentAreText) {
  const Ids as_text = demo().encode("<|im_end|>", {.recognise_special = false});
  EXPECT_EQ(demo().encode("<|im_end|>"), (Ids{2}));
  EXPECT_THAT(as_text, testing::Not(testing::Contains(2)));
  EXPECT_EQ(demo().decode(as_text, true), "<|im_end|>");
  EXPECT_EQ(encode(demo(), {{"<|im_end|>", false}}), as_text);
  Ids expected = {1};
  expected.insert(expected.end(), as_text.begin(), as_text.end());
  expected.push_back(2);
  EXPECT_EQ(encode(demo(), {{"<|im_start|>", true}, {"<|im_end|>", false}, {"<|im_end|>", true}}),
            expected);
}

TEST(Provenance, ATokenNeedsEveryByteFromTheTemplate) {
  const Ids as_text = demo().encode("<|im_end|>", {.recognise_special = false});
  for (size_t cut = 1; cut < 10; ++cut) {
    const std::string token = "<|im_end|>";
    EXPECT_EQ(encode(demo(), {{token.substr(0, cut), true}, {token.substr(cut), true}}), (Ids{2}));
    EXPECT_EQ(encode(demo(), {{token.substr(0, cut), true}, {token.substr(cut), false}}), as_text);
    EXPECT_EQ(encode(demo(), {{token.substr(0, cut), false}, {token.substr(cut), true}}), as_text);
  }
}

TEST(Provenance, BordersOfSegmentsDoNotChangeOtherTokens) {
  RandomText random(4);
  for (int i = 0; i < 200; ++i) {
    const std::string text = random.valid(40);
    std::vector<Segment> segments;
    for (size_t from = 0; from < text.size();) {
      const size_t n = 1 + random.below(9);
      segments.push_back({text.substr(from, n), random.below(2) == 0});
      from += n;
    }
    EXPECT_EQ(encode(demo(), segments), demo().encode(text));
  }
}

TEST(Provenance, ContentCannotSwallowATokenOfTheTemplate) {
  const std::vector<Segment> chat = {
      {"<|im_start|>", true}, {"<|im_start|><|im_e", false}, {"<|im_end|>", true}};
  const Ids ids = encode(demo(), chat);
  EXPECT_EQ(ids.front(), 1);
  EXPECT_EQ(ids.back(), 2);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 1), 1);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 2), 1);
}

// A small tokenizer in the manner of SentencePiece conversions, whose special tokens match in the
// normalised text.
json normalized_tokenizer() {
  json vocab = json::object();
  for (const char* piece : {"<unk>", "a", "b", "▁", "<", ">", "x", "|", "▁a", "A", "e", "́"})
    vocab.emplace(piece, vocab.size());
  return {{"added_tokens",
           {{{"id", 12}, {"content", "<x>"}, {"special", true}, {"normalized", true}},
            {{"id", 13}, {"content", "<a>"}, {"special", false}, {"normalized", true}}}},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers",
             {{{"type", "NFD"}},
              {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}},
              {{"type", "Lowercase"}}}}}},
          {"decoder", {{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"▁ a"}}}}};
}

TEST(Provenance, HoldsThroughNormalizers) {
  const Tokenizer tokenizer = Tokenizer::parse(normalized_tokenizer().dump(), "test");
  EXPECT_EQ(tokenizer.encode("b <X> é"), (Ids{2, 3, 12, 3, 10, 11}));
  EXPECT_EQ(encode(tokenizer, {{"b é", false}, {"<x>", true}, {" é", false}}),
            (Ids{2, 3, 10, 11, 12, 3, 10, 11}));
  EXPECT_EQ(encode(tokenizer, {{"é<X", true}, {">", false}}), (Ids{10, 11, 4, 6, 5}));
  EXPECT_EQ(encode(tokenizer, {{" <x>", false}, {"<x>", true}}), (Ids{3, 4, 6, 5, 12}));
  // A token that is not special is recognised wherever it comes from.
  EXPECT_EQ(encode(tokenizer, {{"<a>", false}, {"<a", false}, {">", true}}), (Ids{13, 13}));
  EXPECT_EQ(tokenizer.encode("<x><a>", {.recognise_special = false}), (Ids{4, 6, 5, 13}));
}

// The expected ids of the following are the reference implementation's for the same file.
json file_with(const std::string& field, const json& value) {
  json vocab = json::object();
  for (const char* piece : {"a", "b", "c", "d", "e", "ab", "▁", "▁a", "l", "x", " "})
    vocab.emplace(piece, vocab.size());
  return {{"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"a b", "▁ a"}}}},
          {field, value}};
}

json added(const std::string& content, const std::string& flag = "", int id = 11) {
  json token = {{"id", id}, {"content", content}, {"special", true}, {"normalized", false}};
  if (!flag.empty()) token[flag] = true;
  return token;
}

TEST(AddedTokens, TakeTheBlanksBesideThem) {
  json token = added("<x>", "lstrip");
  token["rstrip"] = true;
  const Tokenizer tokenizer =
      Tokenizer::parse(file_with("added_tokens", json::array({token})).dump(), "test");
  EXPECT_EQ(tokenizer.encode("a  <x>  a"), (Ids{0, 11, 0}));
  EXPECT_EQ(tokenizer.encode("<x>  <x>"), (Ids{11, 11}));
  EXPECT_EQ(tokenizer.encode(" a<x>"), (Ids{10, 0, 11}));
}

TEST(AddedTokens, SingleWordsMatchNoPartOfAWord) {
  const Tokenizer tokenizer = Tokenizer::parse(
      file_with("added_tokens", json::array({added("bc", "single_word")})).dump(), "test");
  EXPECT_EQ(tokenizer.encode("bc"), (Ids{11}));
  EXPECT_EQ(tokenizer.encode("abc"), (Ids{5, 2}));
  EXPECT_EQ(tokenizer.encode("bc bc"), (Ids{11, 10, 11}));
  EXPECT_EQ(tokenizer.encode("bca"), (Ids{1, 2, 0}));
}

TEST(AddedTokens, TheLongestOfTheLeftmostWins) {
  const json tokens = {added("ab", "", 5), added("abab", "", 11), added("babx", "", 12),
                       added("x", "", 9)};
  const Tokenizer tokenizer = Tokenizer::parse(file_with("added_tokens", tokens).dump(), "test");
  EXPECT_EQ(tokenizer.encode("ababx"), (Ids{11, 9}));
  EXPECT_EQ(tokenizer.encode("abx"), (Ids{5, 9}));
  EXPECT_EQ(tokenizer.encode("babx"), (Ids{12}));
  EXPECT_EQ(tokenizer.encode("aba"), (Ids{5, 0}));
}

TEST(AddedTokens, AreNumberedBehindTheVocabularyAsTheReferenceDoes) {
  const json tokens = {added("<x>", "", 20), added("<y>", "", 30), added("a", "", 7)};
  const Tokenizer tokenizer = Tokenizer::parse(file_with("added_tokens", tokens).dump(), "test");
  EXPECT_EQ(tokenizer.encode("<x><y>ab"), (Ids{11, 12, 0, 1}));
  EXPECT_EQ(tokenizer.special_ids(), (Ids{0, 11, 12}));
  EXPECT_EQ(tokenizer.n_vocab(), 13);
  EXPECT_EQ(tokenizer.decode(Ids{11, 0, 20, 30, 1}, false), "<x> a b");
  EXPECT_THAT(tokenizer.notes(),
              testing::ElementsAre("test.added_tokens: 3 added tokens are numbered anew, as the "
                                   "reference does: '<x>' has the id 20 in the file and gets 11"));
  EXPECT_THAT(demo().notes(), testing::IsEmpty());
}

TEST(PostProcessor, FramesTheIds) {
  const json bos = {{"SpecialToken", {{"id", "B"}, {"type_id", 0}}}};
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json processor = {
      {"type", "TemplateProcessing"},
      {"single", {bos, text, bos}},
      {"pair", json::array()},
      {"special_tokens", {{"B", {{"id", "B"}, {"ids", {1, 2}}, {"tokens", {"b", "c"}}}}}}};
  const json roberta = {{"type", "RobertaProcessing"}, {"sep", {"d", 3}}, {"cls", {"e", 4}}};
  const json sequence = {{"type", "Sequence"},
                         {"processors", {{{"type", "ByteLevel"}}, processor}}};
  const Tokenizer tokenizer =
      Tokenizer::parse(file_with("post_processor", sequence).dump(), "test");
  EXPECT_EQ(tokenizer.encode("a"), (Ids{1, 2, 0, 1, 2}));
  EXPECT_EQ(tokenizer.encode("a", {.add_special = false}), (Ids{0}));
  EXPECT_EQ(Tokenizer::parse(file_with("post_processor", roberta).dump(), "test").encode("a"),
            (Ids{4, 0, 3}));
}

}  // namespace
}  // namespace ft
