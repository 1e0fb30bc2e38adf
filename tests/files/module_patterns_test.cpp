// ModulePatterns: the three kinds of pattern, and bounds on what a hostile one costs.
#include "files/module_patterns.h"

#include <fnmatch.h>

#include <random>

#include <gtest/gtest.h>

#include "tests/files/files_support.h"

namespace ft::test {
namespace {

bool match(const std::string& pattern, std::string_view module) {
  return ModulePatterns({pattern}, "config.json").match(module);
}

TEST(ModulePatterns, APlainNameIsARunOfWholeComponents) {
  EXPECT_TRUE(match("lm_head", "lm_head"));
  EXPECT_TRUE(match("lm_head", "language_model.lm_head"));
  EXPECT_TRUE(match("model.layers.1", "model.layers.1.mlp.gate"));
  EXPECT_TRUE(match("mlp.gate", "model.layers.1.mlp.gate"));
  EXPECT_TRUE(match("layers.1.mlp", "model.layers.1.mlp.gate"));
  EXPECT_FALSE(match("model.layers.1", "model.layers.10.mlp.gate"));
  EXPECT_FALSE(match("gate", "model.layers.1.mlp.gate_proj"));
  EXPECT_FALSE(match("ayers.1", "model.layers.1"));
  EXPECT_FALSE(match("model.layers.1.mlp", "model.layers.1"));
  EXPECT_FALSE(match("lm_head", ""));
}

TEST(ModulePatterns, AGlobMatchesAPathOrOneAbove) {
  EXPECT_TRUE(match("*self_attn*", "model.layers.0.self_attn.q_proj"));
  EXPECT_TRUE(match("model.layers.*.self_attn", "model.layers.0.self_attn.q_proj"));
  EXPECT_TRUE(match("model.layers.?.mlp", "model.layers.3.mlp"));
  EXPECT_FALSE(match("model.layers.?.mlp", "model.layers.13.mlp"));
  EXPECT_FALSE(match("layers.*", "model.layers.3"));
  EXPECT_TRUE(match("*", "anything"));
  EXPECT_TRUE(match("lm_head*", "lm_head"));
}

TEST(ModulePatterns, GlobsAgreeWithTheSystemsFnmatch) {
  std::mt19937 random(7);
  int n_matches = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string pattern = "*";  // at least one wildcard, else it is a plain name
    std::string text;
    for (int i = static_cast<int>(random() % 6); i > 0; --i) pattern += "ab*?"[random() % 4];
    for (int i = static_cast<int>(random() % 8); i > 0; --i) text += "ab"[random() % 2];
    const bool expected = ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
    ASSERT_EQ(match(pattern, text), expected) << pattern << " on " << text;
    n_matches += expected;
  }
  EXPECT_GT(n_matches, 1000);
  EXPECT_LT(n_matches, 19'000);
}

TEST(ModulePatterns, ARegularExpressionMatchesFromTheStart) {
  EXPECT_TRUE(match("re:.*lm_head", "lm_head"));
  EXPECT_TRUE(match("re:model\\.layers\\.\\d+\\.mlp\\.gate$", "model.layers.17.mlp.gate"));
  EXPECT_FALSE(match("re:model\\.layers\\.\\d+\\.mlp\\.gate$", "model.layers.17.mlp.gate_proj"));
  EXPECT_TRUE(match("re:visual.*", "visual.blocks.0"));
  EXPECT_FALSE(match("re:visual.*", "model.visual.blocks.0"));
  EXPECT_TRUE(match("re:.*mlp.(gate|router)$", "model.layers.1.mlp.router"));
  EXPECT_TRUE(match("re:^(?!.*experts).*", "model.layers.1.mlp.gate"));
  EXPECT_FALSE(match("re:^(?!.*experts).*", "model.layers.1.mlp.experts.0.up_proj"));
}

TEST(ModulePatterns, AnEmptyListMatchesNothing) {
  EXPECT_TRUE(ModulePatterns().empty());
  EXPECT_FALSE(ModulePatterns().match("lm_head"));
  EXPECT_FALSE(ModulePatterns({"x"}, "").empty());
}

TEST(ModulePatterns, RefusesWhatItCannotRead) {
  for (const std::string pattern : {"re:(", "re:[z-a]", "re:*", "re:(?<=a)b", "re:a{2,1}"}) {
    expect_error(ErrorKind::kUnsupported, {"config.json", pattern.substr(3)},
                 [&] { match(pattern, "a"); });
  }
  expect_error(ErrorKind::kUnsupported, {"512 bytes"},
               [] { match("re:" + std::string(100'000, '('), "a"); });
  expect_error(ErrorKind::kUnsupported, {"config.json"},
               [] { match("re:" + std::string(500, '('), "a"); });
  expect_error(ErrorKind::kUnsupported, {"2 lookaheads"},
               [] { match("re:(?=.*(?=.*(?=.*x)))", "a"); });
  expect_error(ErrorKind::kUnsupported, {"config.json"},
               [] { match("re:(((a{1000}){1000}){1000}){1000}", "a"); });
}

TEST(ModulePatterns, HostilePatternsEndSoon) {
  const std::string as(400, 'a');
  EXPECT_FALSE(match("re:(a*)*b", as));
  EXPECT_FALSE(match("re:(a|a|a)*(a|aa)*b", as));
  std::string stars;
  for (int i = 0; i < 200; ++i) stars += "*a";
  EXPECT_FALSE(match(stars + "b", as));
  EXPECT_FALSE(match("re:.*", std::string(100'000, 'a')));  // longer than any module's name
}

}  // namespace
}  // namespace ft::test
