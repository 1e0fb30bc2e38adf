// Config: both dialects of key names, types, nested text models, and JSON that is hostile or is
// Python's.
#include "files/config.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/files/files_support.h"

namespace ft::test {
namespace {

Config parse(std::string_view text) {
  return Config::parse(text, "config.json");
}

template <typename Action>
void refuse(std::initializer_list<std::string_view> parts, Action&& action) {
  expect_error(ErrorKind::kBadInput, parts, action);
}

TEST(Config, TakesTheFirstNameThatIsThere) {
  const Config older = parse(R"({"num_experts": 8, "rope_theta": 1e6})");
  const Config newer = parse(R"({"num_experts": null, "num_local_experts": 16,
                                 "rope_parameters": {"rope_theta": 500000}})");
  EXPECT_EQ(older.integer({"num_experts", "num_local_experts"}), 8);
  EXPECT_EQ(newer.integer({"num_experts", "num_local_experts"}), 16);
  EXPECT_EQ(older.number({"rope_theta"}), 1e6);
  EXPECT_EQ(newer.object({"rope_parameters"}).number({"rope_theta"}), 500000);
  EXPECT_FALSE(newer.has("num_experts"));
  EXPECT_TRUE(newer.has("num_local_experts"));
  refuse({"config.json", "missing: \"a\" or \"b\""}, [&] { older.integer({"a", "b"}); });
}

TEST(Config, AnIntegerMayBeWrittenAsAFloatAndMustFit) {
  const Config config = parse(R"({"a": 64.0, "b": 64.5, "c": 9223372036854775808, "d": 1e300,
      "e": -9223372036854775808, "f": "64", "g": true, "h": 9223372036854775807, "i": 1e3})");
  EXPECT_EQ(config.integer({"a"}), 64);
  EXPECT_EQ(config.integer({"i"}), 1000);
  EXPECT_EQ(config.integer({"e"}), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(config.integer({"h"}), std::numeric_limits<int64_t>::max());
  refuse({"\"b\"", "64.5"}, [&] { config.integer({"b"}); });
  refuse({"\"c\"", "9223372036854775808"}, [&] { config.integer({"c"}); });
  refuse({"\"d\"", "1e+300"}, [&] { config.integer({"d"}, 1); });
  refuse({"\"f\"", "string \"64\""}, [&] { config.integer({"f"}); });
  refuse({"\"g\"", "boolean true"}, [&] { config.integer({"g"}); });
}

TEST(Config, DefaultsStandForMissingAndNullOnly) {
  const Config config = parse(R"({"n": null, "s": "x", "o": {}, "b": false})");
  EXPECT_EQ(config.integer({"n"}, 5), 5);
  EXPECT_EQ(config.number({"m"}, 0.5), 0.5);
  EXPECT_EQ(config.string({"n"}, "y"), "y");
  EXPECT_EQ(config.string({"s"}, "y"), "x");
  EXPECT_TRUE(config.flag({"n"}, true));
  EXPECT_FALSE(config.flag({"b"}, true));
  EXPECT_FALSE(config.find_object({"n"}).has_value());
  refuse({"\"s\"", "a number"}, [&] { config.number({"s"}, 1); });
  refuse({"\"s\"", "true or false"}, [&] { config.flag({"s"}, true); });
  refuse({"\"b\"", "a string"}, [&] { config.string({"b"}, ""); });
  refuse({"\"s\"", "an object"}, [&] { config.find_object({"s"}); });
  refuse({"\"o\"", "object"}, [&] { config.string({"o"}); });
}

TEST(Config, Lists) {
  const Config config =
      parse(R"({"i": [1, 2.0, 3], "one": 7, "s": ["a", "b"], "bad": [1, "x"], "f": [1, 0.5]})");
  EXPECT_EQ(config.integers({"i"}), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(config.integers({"one"}), (std::vector<int64_t>{7}));
  EXPECT_EQ(config.integers({"none"}), std::vector<int64_t>{});
  EXPECT_EQ(config.numbers({"f"}), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(config.strings({"s"}), (std::vector<std::string>{"a", "b"}));
  refuse({"\"bad[1]\"", "\"x\""}, [&] { config.integers({"bad"}); });
  refuse({"\"f[1]\"", "0.5"}, [&] { config.integers({"f"}); });
  refuse({"\"s[0]\""}, [&] { config.numbers({"s"}); });
}

TEST(Config, MessagesNameTheInnerObject) {
  const Config inner = parse(R"({"a": {"b": {"c": "x"}}})").object({"a"}).object({"b"});
  EXPECT_EQ(inner.where(), "config.json: a: b");
  refuse({"config.json: a: b: \"c\""}, [&] { inner.integer({"c"}); });
}

TEST(Config, AnInnerObjectOutlivesTheOuterOne) {
  std::optional<Config> inner;
  {
    const Config outer = parse(R"({"a": {"n": 3}})");
    inner = outer.object({"a"});
  }
  EXPECT_EQ(inner->integer({"n"}), 3);
}

TEST(Config, TheTextModelIsLaidOverTheRest) {
  for (const std::string key : {"text_config", "language_config", "llm_config"}) {
    const Config config = parse(R"({"model_type": "vl", "eos_token_id": 2, "tie": true,
        "architectures": ["A"], ")" +
                                key + R"(": {"model_type": "text", "hidden_size": 64,
        "architectures": null}})");
    const Config text = config.text_model();
    EXPECT_EQ(text.string({"model_type"}), "text");
    EXPECT_EQ(text.integer({"hidden_size"}), 64);
    EXPECT_EQ(text.integer({"eos_token_id"}), 2);
    EXPECT_EQ(text.strings({"architectures"}), (std::vector<std::string>{"A"}));
    EXPECT_EQ(text.where(), "config.json");
    EXPECT_EQ(text.text_model().names(), text.names());
    EXPECT_EQ(config.string({"model_type"}), "vl");  // untouched
  }
  EXPECT_EQ(parse(R"({"n": 1})").text_model().integer({"n"}), 1);
}

TEST(Config, WithAddsOrReplacesAMember) {
  const Config config = parse(R"({"a": 1, "b": {"x": 1}})");
  const Config more = config.with("b", parse(R"({"y": 2})")).with("c", parse("{}"));
  EXPECT_EQ(more.names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_FALSE(more.object({"b"}).has("x"));
  EXPECT_EQ(more.object({"b"}).integer({"y"}), 2);
  EXPECT_EQ(config.names(), (std::vector<std::string>{"a", "b"}));
}

TEST(Config, RefusesWhatIsNoJsonObject) {
  for (const std::string text : {"", "[1]", "1", "null", "\"x\"", "{", "{\"a\":}", "{} {}",
                                 "{a: 1}", "{\"a\": 1,}", "{\"a\": 1e999}", "{\"a\": \"\xff\"}"}) {
    refuse({"config.json"}, [&] { parse(text); });
  }
  refuse({"zero byte at 2"}, [] { parse(std::string_view("{}\0x", 4)); });
  refuse({"\"k\" twice"}, [] { parse(R"({"k": 1, "j": {"k": 1}, "k": 2})"); });
  EXPECT_EQ(parse("\xEF\xBB\xBF{\"a\": 1}").integer({"a"}), 1);  // a byte order mark is harmless
}

TEST(Config, RefusesDeepNesting) {
  const auto nested = [](size_t n_lists) {
    return "{\"a\": " + std::string(n_lists, '[') + std::string(n_lists, ']') + "}";
  };
  parse(nested(63));
  refuse({"deeper than 64"}, [&] { parse(nested(64)); });
  refuse({"deeper than 64"}, [&] { parse("{\"a\": " + std::string(10'000'000, '[')); });
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  refuse({"deeper than 64"}, [&] { parse(objects); });
}

TEST(Config, ReadsPythonsBareWordsAsStrings) {
  const Config config = parse(
      R"({"limit": [0.0, Infinity], "n": NaN, "m": -Infinity, "s": "NaN \" Infinity \\", "x": 1})");
  EXPECT_EQ(config.integer({"x"}), 1);
  EXPECT_EQ(config.string({"s"}), "NaN \" Infinity \\");
  refuse({"\"limit[1]\"", "\"Infinity\""}, [&] { config.numbers({"limit"}); });
  refuse({"\"n\"", "\"NaN\""}, [&] { config.number({"n"}, 1); });
  refuse({"\"m\"", "\"-Infinity\""}, [&] { config.number({"m"}); });
  refuse({"not valid JSON"}, [] { parse(R"({"n": -NaN})"); });
}

TEST(Config, ReadsAFile) {
  const ScratchFolder folder;
  const auto file = folder.write("config.json", R"({"n": "x"})");
  refuse({file.string() + ": \"n\""}, [&] { Config::read(file).integer({"n"}); });
  refuse({file.string(), "larger than 9 bytes"}, [&] { Config::read(file, 9); });
  refuse({"larger than 16777216"},
         [&] { Config::read(folder.write("big.json", std::string(Config::kMaxBytes + 1, ' '))); });
  expect_error(ErrorKind::kIo, {"none.json"}, [&] { Config::read(folder.path() / "none.json"); });
}

}  // namespace
}  // namespace ft::test
