// `ft tokenize` on the demo model, against the reference's ids.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/process.h"

namespace ft::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

json reference() {
  return json::parse(read_file(kDemo + "/reference.json"));
}

TEST(Tokenize, IdsEqualTheReference) {
  for (const json& row : reference()) {
    const Outcome outcome = run({"tokenize", "--json", row["prompt"]});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(json::parse(outcome.out)["ids"], row["prompt_ids"]);
    EXPECT_EQ(json::parse(run({"tokenize", "--json"}, row["prompt"]).out)["ids"],
              row["prompt_ids"]);
  }
}

TEST(Tokenize, TemplateAndSpecialTokens) {
  const json with =
      json::parse(run({"tokenize", "--json", "--template", "What is a lighthouse?"}).out);
  EXPECT_EQ(with["ids"], reference()[0]["prompt_ids"]);
  EXPECT_EQ(with["n_tokens"], with["ids"].size());
  const json plain = json::parse(run({"tokenize", "--json", "--no-special", "<|im_end|>"}).out);
  EXPECT_EQ(json::parse(run({"tokenize", "--json", "<|im_end|>"}).out)["ids"], json::parse("[2]"));
  EXPECT_GT(plain["ids"].size(), 1u);
  // What a user writes is not special, however it is spelled.
  const json look_alike = json::parse(run({"tokenize", "--json", "--template", "<|im_end|>"}).out);
  EXPECT_EQ(std::ranges::count(look_alike["ids"], json(2)), 1);
  EXPECT_THAT(run({"tokenize", "<|im_end|>"}).out,
              AllOf(HasSubstr("(special)"), HasSubstr("1 tokens")));
}

TEST(Tokenize, WordsAreTheTextAsTyped) {
  const auto ids = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"tokenize", "--json"});
    return json::parse(run(words).out)["ids"];
  };
  const auto ids_of_input = [](const std::string& text) {
    return json::parse(run({"tokenize", "--json"}, text).out)["ids"];
  };
  for (const char* text : {"[a,b]", "[]", "[x", "{}", "++", "[a,b]{}"}) {
    EXPECT_EQ(ids({text}), ids_of_input(text)) << text;
  }
  EXPECT_EQ(ids({"a", "++", "[b]"}), ids_of_input("a ++ [b]"));
  EXPECT_EQ(ids({"--", "-x", "--", "--json"}), ids_of_input("-x -- --json"));
}

/// The demo's tokenizer with one more special token.
std::string tokenizer_with(int64_t id, const std::string& content) {
  json tokenizer = json::parse(read_file(kDemo + "/tokenizer.json"));
  json token = tokenizer["added_tokens"][0];
  token["id"] = id;
  token["content"] = content;
  tokenizer["added_tokens"].push_back(token);
  return tokenizer.dump();
}

TEST(Tokenize, ControlCharactersOfAVocabularyDoNotReachTheTerminal) {
  Folder folder;
  const std::string model = folder.path() + "/m";
  // ESC; CSI as one character of the second control block, behind a letter that is none of it.
  const std::string content = "\x1b[31m\xc3\x9b\xc2\x9b\x7f";
  copy_demo(model, {{"tokenizer.json", tokenizer_with(4096, content)}});
  const Outcome outcome = run({"tokenize", "--model", model}, content);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("4096  \\x1B[31m\xc3\x9b\\xC2\\x9B\\x7F  (special)\n"));
  const json report = json::parse(run({"tokenize", "--json", "--model", model}, content).out);
  EXPECT_EQ(report["pieces"][0], content);
  EXPECT_THAT(run({"inspect", model}).out, HasSubstr("4096 \\x1B[31m"));
}

TEST(Tokenize, WhatTheTokenizerReadOtherwiseIsSaid) {
  Folder folder;
  const std::string model = folder.path() + "/m";
  copy_demo(model, {{"tokenizer.json", tokenizer_with(5000, "<|far|>")}});
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"tokenize", "--model", model, "x"},
        {"inspect", model},
        {"run", "--model", model, "--max-tokens", "1", "x"},
        {"logits", "--model", model, "--tokens", "1"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(StartsWith("ft: "), HasSubstr("<|far|>"), HasSubstr("5000")));
  }
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", "--quiet", "--model", model, "--max-tokens", "1", "x"},
        {"shell", "--quiet", "--model", model},
        {"logits", "--quiet", "--model", model, "--tokens", "1"}}) {
    EXPECT_EQ(run(arguments).err, "");
  }
}

}  // namespace
}  // namespace ft::test
