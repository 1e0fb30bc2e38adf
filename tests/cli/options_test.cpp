// The command line of a command: words and values arrive as they were typed, and numbers are
// decimal.
#include "cli/options.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Words = std::vector<std::string>;

struct Line {
  Words words;
  std::optional<std::string> text;
  std::vector<std::string> list;
  std::optional<int64_t> number;
  std::optional<int32_t> small;
  std::optional<uint64_t> seed;
  std::optional<float> real;
  bool is_on = false;
};

Line parse(const Words& arguments) {
  Line line;
  Options options("ft test", "A command.");
  options.words("WORD", line.words, "Words");
  options.value("--text", line.text, "A text");
  options.repeated("--list", line.list, "Texts");
  options.value("--number", line.number, "A number", {-100, 1000});
  options.value("--small", line.small, "A number");
  options.value("--seed", line.seed, "A number");
  options.value("--real", line.real, "A number");
  options.flag("--on", line.is_on, "A switch");
  EXPECT_TRUE(options.parse(arguments));
  return line;
}

std::string refusal(const Words& arguments) {
  try {
    parse(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, WordsArriveAsTyped) {
  for (const char* word :
       {"[a,b]", "[]",  "[x", "x]", "[[a],[b]]", "{}",  "{a}", "%%",  "++",   "-",
        "a,b",   "a=b", " ",  "",   "\"x\"",     "'x'", "-5",  "a;b", "\xff", "[a,b]{}"}) {
    EXPECT_THAT(parse({word}).words, ElementsAre(word)) << word;
    EXPECT_THAT(parse({"a", word, "--on", "b"}).words, ElementsAre("a", word, "b")) << word;
    EXPECT_THAT(parse({"--", word}).words, ElementsAre(word)) << word;
  }
}

TEST(Options, BehindTwoDashesAllAreWords) {
  const Line line = parse({"--on", "a", "--", "--number", "-x", "--", "--text={}", "--help"});
  EXPECT_TRUE(line.is_on);
  EXPECT_EQ(line.number, std::nullopt);
  EXPECT_THAT(line.words, ElementsAre("a", "--number", "-x", "--", "--text={}", "--help"));
  EXPECT_THAT(parse({"--"}).words, ElementsAre());
}

TEST(Options, ValuesArriveAsTyped) {
  for (const char* text : {"[a,b]", "[]", "{}", "++", "%%", "-", "a=b", "--on", "={}", "\xff"}) {
    EXPECT_EQ(parse({"--text", text}).text, text);
    EXPECT_EQ(parse({std::string("--text=") + text}).text, text);
    EXPECT_THAT(parse({"--list", text, "--list", "x", "word"}).list, ElementsAre(text, "x"));
    EXPECT_THAT(parse({std::string("--list=") + text}).list, ElementsAre(text));
  }
}

TEST(Options, NumbersAreDecimal) {
  EXPECT_EQ(parse({"--seed", "010"}).seed, 10u);
  EXPECT_EQ(parse({"--number", "010"}).number, 10);
  EXPECT_EQ(parse({"--number=-0100"}).number, -100);
  EXPECT_EQ(parse({"--number", "-7"}).number, -7);
  EXPECT_EQ(parse({"--seed", "18446744073709551615"}).seed, UINT64_MAX);
  EXPECT_EQ(parse({"--small", "-2147483648"}).small, INT32_MIN);
  EXPECT_EQ(parse({"--real", "-1.5e2"}).real, -150.0f);
  for (const char* text : {"", "0x10", "+1", "1_000", "1,000", "1 ", " 1", "1.0", "1e3", "one",
                           "[1]", "{}", "0b1", "99999999999999999999"}) {
    for (const char* name : {"--seed", "--number", "--small"}) {
      EXPECT_THAT(refusal({name, text}), HasSubstr(name)) << text;
    }
  }
  EXPECT_THAT(refusal({"--seed", "-1"}), HasSubstr("'-1'"));
  EXPECT_THAT(refusal({"--small", "2147483648"}), HasSubstr("2147483648"));
  for (const char* text : {"", "0,5", "1.5x", "+1", "0x1p3", "1e99", "[1]"}) {
    EXPECT_THAT(refusal({"--real", text}), HasSubstr("--real")) << text;
  }
}

TEST(Options, ARangeIncludesItsEnds) {
  EXPECT_EQ(parse({"--number", "1000"}).number, 1000);
  EXPECT_THAT(refusal({"--number", "1001"}), HasSubstr("1001 is outside -100 to 1000"));
  EXPECT_THAT(refusal({"--number", "-101"}), HasSubstr("-101"));
}

TEST(Options, WhatIsNoneIsNamed) {
  EXPECT_THAT(refusal({"--fly"}), HasSubstr("'--fly'"));
  EXPECT_THAT(refusal({"-x"}), HasSubstr("behind --"));
  EXPECT_THAT(refusal({"--text"}), HasSubstr("--text"));
  EXPECT_THAT(refusal({"--text", ""}), HasSubstr("--text: the text is empty"));
  EXPECT_THAT(refusal({"--text="}), HasSubstr("--text"));
  EXPECT_THAT(refusal({"--list", "a", "--list", ""}), HasSubstr("--list"));
  EXPECT_THAT(refusal({"--seed", "1", "--seed", "2"}), HasSubstr("--seed"));
}

TEST(Options, ACommandWithoutWordsTakesNone) {
  for (const char* word : {"x", "[x]", "++", "{}", ""}) {
    Options options("ft test", "A command.");
    try {
      options.parse(Words{word});
      FAIL() << word;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("'") + word + "'"));
    }
  }
}

}  // namespace
}  // namespace ft
