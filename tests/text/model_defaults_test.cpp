// Defaults from made-up folders.
#include "text/model_defaults.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ft/error.h"
#include "text/tokenizer.h"

namespace ft {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class ModelDefaultsTest : public testing::Test {
 protected:
  ModelDefaultsTest() : tokenizer_(Tokenizer::load(FT_SOURCE_DIR "/models/demo")) {
    std::string name = (fs::temp_directory_path() / "ft-defaults-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ModelDefaultsTest() override { fs::remove_all(folder_); }

  void put(const char* name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  ModelDefaults read() { return read_model_defaults(folder_, tokenizer_); }

  void expect_refused(const char* name, const std::string& text) {
    put(name, text);
    try {
      read();
      ADD_FAILURE() << name << ": " << text.substr(0, 80);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
      EXPECT_THAT(error.what(), testing::HasSubstr(name));
    }
    fs::remove(folder_ / name);
  }

  Tokenizer tokenizer_;
  fs::path folder_;
};

TEST_F(ModelDefaultsTest, AnEmptyFolderTakesTheBestToken) {
  const ModelDefaults defaults = read();
  EXPECT_EQ(defaults.sampling.temperature, 0);
  EXPECT_EQ(defaults.sampling.top_k, 0);
  EXPECT_EQ(defaults.sampling.top_p, 1);
  EXPECT_TRUE(defaults.stop_tokens.empty());
  EXPECT_EQ(defaults.max_new_tokens, std::nullopt);
  EXPECT_TRUE(defaults.stop_strings.empty());
}

TEST_F(ModelDefaultsTest, StopTokensAreTheUnionOfAllSources) {
  put("config.json", R"({"eos_token_id": 7, "text_config": {"eos_token_id": [9, 7]}})");
  put("generation_config.json", R"({"eos_token_id": [11, -1, 9000000000, 3]})");
  put("tokenizer_config.json", R"({"eos_token": {"content": "<|im_end|>", "lstrip": false}})");
  EXPECT_THAT(read().stop_tokens, ElementsAre(2, 3, 7, 9, 11));
  put("tokenizer_config.json", R"({"eos_token": "<|endoftext|>"})");
  EXPECT_THAT(read().stop_tokens, ElementsAre(0, 3, 7, 9, 11));
  put("tokenizer_config.json", R"({"eos_token": "no such token"})");
  for (const std::string name : {"language_config", "llm_config"}) {
    put("config.json",
        "{\"eos_token_id\": 7, \"unused\": NaN, \"" + name + "\": {\"eos_token_id\": 9}}");
    EXPECT_THAT(read().stop_tokens, ElementsAre(3, 7, 9, 11));
  }
  put("config.json", R"({"eos_token_id": null, "text_config": null})");
  EXPECT_THAT(read().stop_tokens, ElementsAre(3, 11));
}

TEST_F(ModelDefaultsTest, DoSampleBringsTheReferencesDefaults) {
  put("generation_config.json", R"({"do_sample": true})");
  EXPECT_EQ(read().sampling.temperature, 1);
  EXPECT_EQ(read().sampling.top_k, 50);
  put("generation_config.json",
      R"({"do_sample": true, "temperature": 0.5, "top_k": 20, "top_p": 0.75, "min_p": 0.25, "repetition_penalty": 1.5})");
  const SamplingParams params = read().sampling;
  EXPECT_EQ(params.temperature, 0.5f);
  EXPECT_EQ(params.top_k, 20);
  EXPECT_EQ(params.top_p, 0.75f);
  EXPECT_EQ(params.min_p, 0.25f);
  EXPECT_EQ(params.repetition_penalty, 1.5f);
}

TEST_F(ModelDefaultsTest, WithoutDoSampleTheBestTokenIsTakenWhateverElseIsSaid) {
  for (const char* text :
       {R"({"temperature": 0.5, "top_k": 20, "repetition_penalty": 1.5})",
        R"({"do_sample": false, "temperature": 0.5, "top_k": 20, "repetition_penalty": 1.5})"}) {
    put("generation_config.json", text);
    EXPECT_EQ(read().sampling.temperature, 0);
    EXPECT_EQ(read().sampling.top_k, 20);  // holds once --temperature asks for a draw
    EXPECT_EQ(read().sampling.repetition_penalty, 1.5f);
  }
  put("generation_config.json", R"({"do_sample": null, "temperature": null, "top_k": -1})");
  EXPECT_EQ(read().sampling.top_k, 0);
}

TEST_F(ModelDefaultsTest, LengthAndStopStrings) {
  put("generation_config.json", R"({"max_new_tokens": 2048, "stop_strings": "</answer>"})");
  EXPECT_EQ(read().max_new_tokens, 2048);
  EXPECT_THAT(read().stop_strings, ElementsAre("</answer>"));
  put("generation_config.json", R"({"max_new_tokens": null, "stop_strings": ["a", "", "b\n"]})");
  EXPECT_EQ(read().max_new_tokens, std::nullopt);
  EXPECT_THAT(read().stop_strings, ElementsAre("a", "b\n"));
}

// Ranges are those of the sampler, which checks them.
TEST_F(ModelDefaultsTest, ValuesArePassedOnAsTheyAre) {
  put("generation_config.json",
      R"({"do_sample": true, "temperature": -1, "top_k": -2, "top_p": 1.5, "min_p": 7})");
  const SamplingParams params = read().sampling;
  EXPECT_EQ(params.temperature, -1);
  EXPECT_EQ(params.top_k, -2);
  EXPECT_EQ(params.top_p, 1.5f);
  EXPECT_EQ(params.min_p, 7);
}

TEST_F(ModelDefaultsTest, ALoopOfLinksIsAnErrorAndALinkToNothingIsNothing) {
  for (const char* name : {"config.json", "generation_config.json", "tokenizer_config.json"}) {
    fs::create_symlink(folder_ / name, folder_ / name);
    try {
      read();
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      EXPECT_THAT(error.what(), testing::HasSubstr(name));
    }
    fs::remove(folder_ / name);
    fs::create_symlink(folder_ / "none", folder_ / name);
    EXPECT_NO_THROW(read());
  }
}

TEST_F(ModelDefaultsTest, MalformedFilesAreRefusedByName) {
  for (const char* name : {"config.json", "generation_config.json", "tokenizer_config.json"}) {
    for (const std::string text : {"", "{", "[]", "3", "\"x\"", "{\"a\": \xff}"})
      expect_refused(name, text);
    expect_refused(name, "{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + "}");
  }
  for (const char* value :
       {"\"2\"", "2.5", "[2, \"3\"]", "[[2]]", "true", "{}", "18446744073709551615"}) {
    expect_refused("config.json", std::string("{\"eos_token_id\": ") + value + "}");
    expect_refused("generation_config.json", std::string("{\"eos_token_id\": ") + value + "}");
  }
  for (const char* pair :
       {R"("temperature": "hot")", R"("temperature": 1e300)", R"("top_p": [1])", R"("top_k": 2.7)",
        R"("top_k": 3000000000)", R"("min_p": true)", R"("repetition_penalty": {})",
        R"("do_sample": 1)", R"("max_new_tokens": 0)", R"("max_new_tokens": 2.5)",
        R"("max_new_tokens": "many")", R"("stop_strings": 3)", R"("stop_strings": ["a", 3])",
        R"("stop_strings": {"a": 1})"}) {
    expect_refused("generation_config.json", std::string("{") + pair + "}");
  }
  for (const char* value : {"7", "[]", "{}", R"({"content": 3})"}) {
    expect_refused("tokenizer_config.json", std::string("{\"eos_token\": ") + value + "}");
  }
}

}  // namespace
}  // namespace ft
