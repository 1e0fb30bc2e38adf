// Files that must be refused with a message, and patterns that must not hang.
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace ft {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json file_with(const json& changes) {
  json file = {{"version", "1.0"},
               {"added_tokens", json::array()},
               {"model",
                {{"type", "BPE"},
                 {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}},
                 {"merges", json::array({"a b"})}}}};
  file.merge_patch(changes);
  return file;
}

void expect_refused(const std::string& text, ErrorKind kind, const std::string& part_of_message) {
  try {
    Tokenizer::parse(text, "file");
    ADD_FAILURE() << "accepted " << text.substr(0, 200) << "; expected: " << part_of_message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(part_of_message));
    EXPECT_THAT(error.what(), HasSubstr("file"));
    EXPECT_LT(std::string_view(error.what()).size(), 1000U);
  }
}

void expect_bad(const json& changes, const std::string& part_of_message) {
  expect_refused(file_with(changes).dump(), ErrorKind::kBadInput, part_of_message);
}

void expect_unsupported(const json& changes, const std::string& part_of_message) {
  expect_refused(file_with(changes).dump(), ErrorKind::kUnsupported, part_of_message);
}

TEST(TokenizerFile, TheUnchangedFileIsGood) {
  EXPECT_EQ(Tokenizer::parse(file_with(json::object()).dump(), "file").encode("abb"),
            (std::vector<int32_t>{2, 1}));
}

TEST(TokenizerFile, WhatIsNotJsonIsRefused) {
  for (const std::string text :
       {"", "{", "nonsense", "{\"model\": {\"vocab\": {\"a\xFF\": 0}}}", "[1,2", "\"\\ud800\""}) {
    expect_refused(text, ErrorKind::kBadInput, "not valid JSON");
  }
  expect_refused("\"" + std::string(1 << 20, 'a'), ErrorKind::kBadInput, "not valid JSON");
  expect_refused("[]", ErrorKind::kBadInput, "an object was expected");
  expect_refused("{}", ErrorKind::kBadInput, "'model' is missing");
}

TEST(TokenizerFile, DeepNestingIsRefused) {
  const std::string nested = std::string(200000, '[') + std::string(200000, ']');
  for (const std::string& text :
       {std::string(1 << 20, '['), "{\"model\": " + nested + "}",
        R"({"model": {"vocab": {"a": )" + nested + "}}}",
        R"({"model": {"vocab": {"a": 0}, "merges": []}, "added_tokens": [{"content": "x", "id": )" +
            nested + "}]}"}) {
    expect_refused(text, ErrorKind::kBadInput, "nested deeper than 64 levels");
  }
  const std::string levels = std::string(62, '[') + std::string(62, ']');
  expect_refused("{\"model\": {\"vocab\": " + levels + "}}", ErrorKind::kBadInput,
                 "an object from");
  expect_refused("{\"model\": {\"vocab\": [" + levels + "]}}", ErrorKind::kBadInput,
                 "nested deeper than 64 levels");
  // Brackets in strings, with escapes in front of their quotes, are no nesting.
  json brackets = file_with({{"model", {{"unk_token", std::string(1000, '[') + "\\\""}}}});
  EXPECT_NO_THROW(Tokenizer::parse(brackets.dump(), "file"));
  json sequence = {{"type", "NFC"}};
  for (int i = 0; i < 30; ++i)
    sequence = {{"type", "Sequence"}, {"normalizers", json::array({sequence})}};
  expect_bad({{"normalizer", sequence}}, "nested deeper");
  const json many(1000, json{{"type", "NFC"}});
  expect_bad({{"normalizer", {{"type", "Sequence"}, {"normalizers", many}}}},
             "more than 256 steps");
}

TEST(TokenizerFile, UnknownTypesAreNamedWithTheKnownOnes) {
  expect_unsupported({{"version", "2.0"}}, "version '2.0'");
  expect_unsupported({{"model", {{"type", "Unigram"}}}},
                     "model type 'Unigram' is not supported; known is BPE");
  expect_unsupported({{"model", {{"dropout", 0.1}}}}, "drops merges at random");
  expect_unsupported({{"normalizer", {{"type", "Precompiled"}}}},
                     "'Precompiled' is not supported; known are ByteLevel, Lower");
  expect_unsupported({{"pre_tokenizer", {{"type", "Foo"}}}},
                     "'Foo' is not supported; known are BertPreTokenizer, ByteLevel");
  expect_unsupported({{"decoder", {{"type", "CTC"}}}},
                     "'CTC' is not supported; known are ByteFallback");
  expect_unsupported({{"post_processor", {{"type", "X"}}}},
                     "'X' is not supported; known are BertProcessing");
  expect_unsupported(
      {{"pre_tokenizer",
        {{"type", "Split"}, {"pattern", {{"String", "a"}}}, {"behavior", "Sideways"}}}},
      "Sideways");
  expect_unsupported({{"pre_tokenizer",
                       {{"type", "Split"}, {"pattern", {{"Glob", "a"}}}, {"behavior", "Removed"}}}},
                     "String or a Regex");
  expect_unsupported({{"pre_tokenizer", {{"type", "Metaspace"}, {"prepend_scheme", "often"}}}},
                     "'often'");
  EXPECT_NO_THROW(Tokenizer::parse(file_with({{"model", {{"dropout", 0.0}}}}).dump(), "file"));
}

TEST(TokenizerFile, WrongValuesAreRefusedWithTheirPlace) {
  expect_bad({{"model", {{"vocab", {{"a", 1.5}}}}}}, "the id of 'a' is 1.5");
  expect_bad({{"model", {{"vocab", {{"c", "x"}}}}}}, "the id of 'c' is \"x\"");
  expect_bad({{"model", {{"vocab", {{"c", UINT64_MAX}}}}}}, "18446744073709551615");
  expect_bad({{"model", {{"vocab", {{"c", {1, {{"x", 2}}}}}}}}}, "the id of 'c' is array");
  expect_bad({{"model", {{"vocab", {{"c", -1}}}}}}, "id -1");
  expect_bad({{"model", {{"vocab", {{"c", 0}}}}}}, "the same id 0");
  expect_bad({{"model", {{"vocab", {{"c", 1 << 30}}}}}}, "1073741824");
  expect_bad({{"model", {{"vocab", json::array()}}}}, "file.model.vocab");
  expect_bad({{"model", {{"merges", json::array({"a b c"})}}}}, "file.model.merges[0]: two pieces");
  expect_bad({{"model", {{"merges", json::array({"ab"})}}}}, "file.model.merges[0]");
  expect_bad({{"model", {{"merges", {{"a", "b", "c"}, 1}}}}}, "file.model.merges[0]");
  expect_bad({{"model", {{"merges", {1, "a b"}}}}}, "file.model.merges[0]");
  expect_bad({{"model", {{"merges", json::array({"a c"})}}}}, "needs the piece 'c'");
  expect_bad({{"model", {{"fuse_unk", 1}}}}, "file.model.fuse_unk: true or false");
  expect_bad({{"model", {{"unk_token", 1}}}}, "file.model.unk_token: a string");
  expect_bad({{"normalizer", {{"type", 1}}}}, "file.normalizer.type: a string");
  expect_bad({{"normalizer", json::object({{"a", 1}})}}, "'type' is missing");
  expect_bad({{"decoder", {{"type", "Strip"}, {"content", "ab"}, {"start", 0}, {"stop", 0}}}},
             "one character");
  expect_bad({{"decoder", {{"type", "Strip"}, {"content", ""}, {"start", 0}, {"stop", 0}}}},
             "one character");
  expect_bad({{"decoder", {{"type", "Strip"}, {"content", "a"}, {"start", -1}, {"stop", 0}}}},
             "negative");
  expect_bad({{"pre_tokenizer", {{"type", "Metaspace"}, {"add_prefix_space", false}}}},
             "prepend_scheme is always");
}

TEST(TokenizerFile, BadAddedTokensAreRefused) {
  const auto with = [](const json& token) { return json{{"added_tokens", json::array({token})}}; };
  expect_bad(with({{"id", -1}, {"content", "<x>"}}), "the id -1");
  expect_bad(with({{"id", int64_t{1} << 40}, {"content", "<x>"}}), "1099511627776");
  expect_bad(with({{"id", 3}, {"content", std::string(2000, 'x')}}), "2000 bytes");
  expect_bad(with({{"id", 3}}), "'content' is missing");
  expect_bad(with({{"id", {{"x", {1}}}}, {"content", "<x>"}}),
             "an integer was expected, found object");
  expect_bad(with({{"content", "<x>"}}), "'id' is missing");
  expect_bad(
      {{"added_tokens", {{{"id", 3}, {"content", "<x>"}}}}, {"model", {{"vocab", {{"c", 4}}}}}},
      "the piece 'c' has it");
  expect_bad({{"added_tokens", {{"id", 3}}}}, "a list was expected");
}

TEST(TokenizerFile, BadPostProcessorsAreRefused) {
  const json a = {{"Sequence", {{"id", "A"}}}};
  const json b = {{"Sequence", {{"id", "B"}}}};
  const json token = {{"SpecialToken", {{"id", "T"}}}};
  const auto with = [](const json& single, const json& ids) {
    return json{{"post_processor",
                 {{"type", "TemplateProcessing"},
                  {"single", single},
                  {"special_tokens", {{"T", {{"ids", ids}}}}}}}};
  };
  expect_bad(with({token, a}, {99}), "the id 99, which no token has");
  expect_bad(with({token, a}, {-1}), "the id -1");
  expect_bad(with({token, a}, {int64_t{1} << 32}), "the id 4294967296");
  expect_unsupported(with({token, b}, {0}), "sequence A once");
  expect_unsupported(with({a, a}, {0}), "sequence A once");
  expect_unsupported(with(json::array({token}), {0}), "without sequence A");
  const json bert = {{"type", "BertProcessing"}, {"cls", {"a", 0}}, {"sep", {"b", 1}}};
  expect_unsupported({{"post_processor", {{"type", "Sequence"}, {"processors", {bert, bert}}}}},
                     "a second post-processor");
  expect_bad({{"post_processor", {{"type", "BertProcessing"}, {"cls", {"a"}}, {"sep", {"b", 1}}}}},
             "a token and its id");
}

json split_by(const std::string& regex) {
  return {{"pre_tokenizer",
           {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}}}};
}

TEST(TokenizerFile, BadPatternsAreRefused) {
  for (const std::string regex : {"(", "[a", "(?<n>a)\\g<n>(", "\\p{Nonsense}"}) {
    expect_bad(split_by(regex), "does not compile");
  }
  expect_bad(split_by(std::string(1 << 15, 'a')), "a pattern of 32768 bytes");
  expect_bad(split_by(std::string(1000, '(') + std::string(1000, ')')), "does not compile");
}

TEST(TokenizerFile, PatternsThatBacktrackWithoutEndAreStopped) {
  const std::string text = std::string(5000, 'a') + "b";
  for (const std::string regex :
       {"(a+)+$", "(a|a)*c", "(a*)*c", "(?:a?){50}a{50}c", "(.*a){20}c", "(?<x>a\\g<x>?)+c"}) {
    const Tokenizer tokenizer = Tokenizer::parse(file_with(split_by(regex)).dump(), "file");
    const auto start = std::chrono::steady_clock::now();
    try {
      tokenizer.encode(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_THAT(error.what(), HasSubstr("file.pre_tokenizer.pattern.Regex"));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)) << regex;
  }
  const Tokenizer endless = Tokenizer::parse(file_with(split_by("(a+)+$")).dump(), "file");
  EXPECT_THROW(endless.encode(text), Error);
}

TEST(TokenizerFile, NormalizersThatDoubleTheTextAreStopped) {
  const json twice = {
      {"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(100, 'a')}};
  const json steps(20, twice);
  const json file = file_with({{"normalizer", {{"type", "Sequence"}, {"normalizers", steps}}}});
  EXPECT_THROW(Tokenizer::parse(file.dump(), "file").encode("aaaa"), Error);
}

// The library's own ordering of marks takes time with the square of their number: hours for this
// one.
TEST(Unicode, LongRunsOfMarksAreOrderedInTime) {
  constexpr size_t kMarks = 400000;
  std::string text = "e";
  for (size_t i = 0; i < kMarks; ++i) text += i % 2 ? "\u0323" : "\u0301";  // below, above
  std::string expected = "\u1EB9";
  for (size_t i = 1; i < kMarks / 2; ++i) expected += "\u0323";
  for (size_t i = 0; i < kMarks / 2; ++i) expected += "\u0301";
  std::string normalized;
  normalize_pieces(text, NormalForm::kNfc,
                   [&](std::string_view piece, size_t, size_t) { normalized += piece; });
  EXPECT_TRUE(normalized == expected);
}

}  // namespace
}  // namespace ft
