// The template language against python3-jinja2, and who wrote which byte of a prompt.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ft/error.h"
#include "tests/text/template_oracle.h"
#include "text/chat_template.h"

namespace ft {
namespace {

using testing::HasSubstr;

struct Outcome {
  std::string text;
  std::string error;
  ErrorKind kind = ErrorKind::kIo;
};

Outcome render(const std::string& source, const std::string& variables = "{}",
               const std::string& messages = "[]") {
  Outcome outcome;
  try {
    ChatTemplate parsed = ChatTemplate::parse(source, "t");
    outcome.text = joined(parsed.render({messages, "", variables, true}));
  } catch (const Error& error) {
    outcome.error = error.what();
    outcome.kind = error.kind();
  }
  return outcome;
}

Json read_cases() {
  return Json::parse(read_file(std::string(FT_SOURCE_DIR) + "/tests/text/jinja_cases.json"));
}

TEST(Jinja, CasesEqualTheReference) {
  Json cases = read_cases();
  Json request = Json::array();
  for (const Json& one : cases["cases"]) {
    if (one.contains("unsupported")) continue;
    request.push_back({{"template", one["template"]},
                       {"messages", Json::array()},
                       {"variables", one.value("variables", cases["variables"])}});
  }
  Json reply = ask_jinja2(request);
  ASSERT_EQ(reply.size(), request.size());
  int n_equal = 0, n_refused = 0;
  for (size_t i = 0; i < request.size(); ++i) {
    std::string source = request[i]["template"];
    Outcome ours = render(source, request[i]["variables"].dump());
    if (reply[i].contains("error")) {
      EXPECT_NE(ours.error, "") << source << "\nreference: " << reply[i] << "\nours: " << ours.text;
      ++n_refused;
    } else {
      EXPECT_EQ(ours.error, "") << source;
      EXPECT_EQ(ours.text, reply[i]["text"].get<std::string>()) << source;
      ++n_equal;
    }
  }
  EXPECT_GE(n_equal, 200);
  EXPECT_GE(n_refused, 100);
}

TEST(Jinja, WhatIsNotSupportedIsNamed) {
  Json cases = read_cases();
  int n = 0;
  for (const Json& one : cases["cases"]) {
    if (!one.contains("unsupported")) continue;
    std::string source = one["template"];
    Outcome ours = render(source, cases["variables"].dump());
    // A literal cannot be read at all, so its Error is about syntax.
    bool is_literal = source.find("\\N") != std::string::npos;
    EXPECT_EQ(ours.kind, is_literal ? ErrorKind::kBadInput : ErrorKind::kUnsupported)
        << source << ours.error;
    EXPECT_THAT(ours.error, HasSubstr("not supported")) << source;
    ++n;
  }
  EXPECT_GE(n, 20);
}

TEST(Jinja, ErrorsSayWhere) {
  EXPECT_THAT(render("a\nb {{ 1 + }}").error, HasSubstr("t:2:10: "));
  EXPECT_THAT(render("\n\n{% nope %}").error, HasSubstr("t:3:4: "));
  EXPECT_THAT(render("\n{{ x.y }}").error, HasSubstr("t:2: 'x' is undefined"));
  EXPECT_THAT(render("{% for i in [1] %}\n{{ i.a.b }}{% endfor %}").error,
              HasSubstr("t:2: a int has no 'a'"));
  EXPECT_THAT(render("x\n{{ raise_exception('no ' ~ 1) }}").error,
              HasSubstr("t:2: the chat template refuses this conversation: no 1"));
  EXPECT_THAT(render("{{ {} + 1 }}").error, HasSubstr("'+' does not work between dict and int"));
  EXPECT_THAT(render("\xFF").error, HasSubstr("not valid UTF-8 at byte 0"));
  EXPECT_THAT(render(std::string(2 << 20, 'x')).error, HasSubstr("the limit is"));
}

TEST(Jinja, IntegersAre64Bits) {
  EXPECT_EQ(render("{{ 9223372036854775807 }} {{ -9223372036854775807 - 1 }}").text,
            "9223372036854775807 -9223372036854775808");
  for (const char* source :
       {"{{ 9223372036854775808 }}", "{{ 9223372036854775807 + 1 }}", "{{ 2 ** 63 }}",
        "{{ -9223372036854775807 - 2 }}", "{{ 3037000500 * 3037000500 }}",
        "{{ (-9223372036854775807 - 1) // -1 }}", "{{ -(-9223372036854775807 - 1) }}",
        "{{ '9223372036854775808'|int }}", "{{ 1e19|int }}",
        "{{ (-9223372036854775807 - 1)|abs }}"}) {
    EXPECT_THAT(render(source).error, HasSubstr("64 bits")) << source;
  }
  // The results are those of Python.
  EXPECT_EQ(render("{{ (-9223372036854775807 - 1) % -1 }}").text, "0");
  EXPECT_EQ(render("{{ (-9223372036854775807 - 1) % 9223372036854775807 }}").text,
            "9223372036854775806");
  EXPECT_EQ(render("{{ 9223372036854775807 % (-9223372036854775807 - 1) }}").text, "-1");
  EXPECT_EQ(render("{{ (-9223372036854775807 - 1) // 9223372036854775807 }}").text, "-2");
  EXPECT_EQ(render("{{ '-9223372036854775808'|int }}").text, "-9223372036854775808");
  EXPECT_THAT(render("{{ x }}", R"({"x": 18446744073709551615})").error, HasSubstr("64 bits"));
  EXPECT_THAT(render("{{ x }}", R"({"x": 123456789012345678901234567890})").error,
              HasSubstr("64 bits"));
  EXPECT_EQ(render("{{ x }} {{ y }}", R"({"x": -9223372036854775808, "y": 1.0})").text,
            "-9223372036854775808 1.0");
}

TEST(Jinja, JsonThatIsWrongIsRefused) {
  for (const char* variables : {"[", "{\"a\": nope}", "{\"a\": \"\xFF\"}", "{\"a\": 1,}", "3", "[]",
                                "{\"messages\": []}", "{\"a\": 1} x", "{\"a\": \"\\ud800\"}"}) {
    Outcome outcome = render("x", variables);
    EXPECT_NE(outcome.error, "") << variables;
    EXPECT_EQ(outcome.kind, ErrorKind::kBadInput) << variables;
  }
  std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_THAT(render("x", "{\"a\": " + deep + "}").error, HasSubstr("nests deeper"));
  EXPECT_THAT(render("x", "{}", "{}").error, HasSubstr("a list is expected"));
  EXPECT_EQ(render("{{ a }}", R"({"a": 1, "a": 2})").text, "2");  // as Python: the last one counts
}

// ---- provenance

std::string describe(const std::vector<Segment>& segments) {
  std::string text;
  for (const Segment& segment : segments) {
    text += segment.may_be_special ? "<" + segment.text + ">" : "(" + segment.text + ")";
  }
  return text;
}

std::string describe(const std::string& source, const std::string& messages,
                     const std::string& variables = "{}") {
  return describe(ChatTemplate::parse(source, "t").render({messages, "", variables, true}));
}

TEST(JinjaProvenance, EachByteKnowsWhoWroteIt) {
  const std::string messages = R"([{"role": "user", "content": " Ab|c "}])";
  auto of = [&](const std::string& expression) {
    return describe("{% set c = messages[0].content %}{{ " + expression + " }}", messages);
  };
  EXPECT_EQ(of("'<s>' + c + '</s>'"), "<<s>>( Ab|c )<</s>>");
  EXPECT_EQ(of("'x' ~ c|trim ~ 1"), "<x>(Ab|c)<1>");
  EXPECT_EQ(of("(c ~ 'xy')[1:7]"), "(Ab|c )<x>");
  EXPECT_EQ(of("(c ~ 'xy')[::-1]"), "<yx>( c|bA )");
  EXPECT_EQ(of("(c ~ 'xy').upper()"), "( AB|C )<XY>");
  EXPECT_EQ(of("(c ~ ' ß').upper()"), "( AB|C )< SS>");
  EXPECT_EQ(of("'q' ~ c.replace('b', 'T')"), "<q>( A)<T>(|c )");
  EXPECT_EQ(of("'a<b'.replace('<', c)"), "<a>( Ab|c )<b>");
  EXPECT_EQ(of("c.split('|')|join('+')"), "( Ab)<+>(c )");
  EXPECT_EQ(of("'[%s|%5s]' % (c, 'x')"), "<[>( Ab|c )<|    x]>");
  EXPECT_EQ(of("'[{}]'.format(c)"), "<[>( Ab|c )<]>");
  EXPECT_EQ(of("'a\nb'|indent(c)"), "<a\n>( Ab|c )<b>");
  EXPECT_EQ(of("[c, 'x']|join"), "( Ab|c )<x>");
  EXPECT_EQ(of("c|list|last ~ 'x'"), "( )<x>");
  EXPECT_EQ(of("c * 2 ~ 'x' * 2"), "( Ab|c  Ab|c )<xx>");
  EXPECT_EQ(of("('<' ~ c)|escape"), "<&lt;>( Ab|c )");
  EXPECT_EQ(of("(c ~ '-')|center(9)"), "< >( Ab|c )<- >");
  EXPECT_EQ(of("'%r' % c"), "(' Ab|c ')");
  EXPECT_EQ(of("c.partition('|')[0] ~ 'x'"), "( Ab)<x>");
  EXPECT_EQ(of("(c ~ 'yz')|truncate(9, true, '..', 0)"), "( Ab|c )<yz>");
  EXPECT_EQ(of("(c ~ 'yz')|truncate(7, true, '..', 0)"), "( Ab|c)<..>");
}

TEST(JinjaProvenance, WhatIsPrintedFromDataIsContent) {
  const std::string messages =
      R"([{"role": "user", "content": "c", "more": {"<|k|>": "<|v|>", "n": 1}}])";
  EXPECT_EQ(describe("{{ messages[0].more|tojson }}", messages), R"(({"<|k|>": "<|v|>", "n": 1}))");
  EXPECT_EQ(describe("{{ messages[0].more }}", messages), "({'<|k|>': '<|v|>', 'n': 1})");
  EXPECT_EQ(describe("{{ messages[0].more|list }}", messages), "(['<|k|>', 'n'])");
  EXPECT_EQ(
      describe("{% for k, v in messages[0].more|items %}{{ k }}={{ v }};{% endfor %}", messages),
      "(<|k|>)<=>(<|v|>)<;>(n)<=1;>");
  EXPECT_EQ(describe("{{ v }}{{ [v]|first }}{% set ns = namespace(v=v) %}{{ ns.v }}", messages,
                     R"({"v": "x"})"),
            "(xxx)");
  EXPECT_EQ(describe("{% set b %}[{{ v }}]{% endset %}{{ b|upper }}", messages, R"({"v": "x"})"),
            "<[>(X)<]>");
  EXPECT_EQ(
      describe("{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m(v)[1:] }}", messages, R"({"v": "x"})"),
      "(x)<>>");
}

TEST(JinjaProvenance, RolesThatArePlainWordsBelongToTheTemplate) {
  EXPECT_EQ(describe("{{ '<|' + messages[0].role + '|>' + messages[0].content }}",
                     R"([{"role": "user", "content": "user"}])"),
            "<<|user|>>(user)");
  EXPECT_EQ(describe("{{ messages[0].role }}", R"([{"role": "<|im_end|>"}])"), "(<|im_end|>)");
  EXPECT_EQ(describe("{{ messages[0].role }}", R"([{"role": "a b"}])"), "(a b)");
}

// Content made of marked characters goes through every case: none of them may come out as the
// template's.
TEST(JinjaProvenance, NoOperationMakesContentTrusted) {
  const std::string kMark = "\xEE\x80\x80";  // U+E000, which no template has
  Json cases = read_cases();
  auto marked = [&](auto self, const Json& value) -> Json {
    if (value.is_string()) {
      std::string text = value, result;
      for (char c : text) {
        result += c;
        if (static_cast<unsigned char>(c) < 0x80) result += kMark;
      }
      return result;
    }
    Json copy = value;
    if (value.is_structured()) {
      for (auto& item : copy) item = self(self, item);
    }
    return copy;
  };
  std::string variables = marked(marked, cases["variables"]).dump();
  int n_marked = 0;
  for (const Json& one : cases["cases"]) {
    if (one.contains("variables")) continue;
    std::string source = one["template"];
    std::vector<Segment> segments;
    try {
      segments = ChatTemplate::parse(source, "t").render({"[]", "", variables, true});
    } catch (const Error&) {
      continue;
    }
    for (const Segment& segment : segments) {
      bool has_mark = segment.text.find(kMark) != std::string::npos;
      n_marked += has_mark ? 1 : 0;
      EXPECT_FALSE(has_mark && segment.may_be_special) << source << "\n" << describe(segments);
    }
  }
  EXPECT_GE(n_marked, 80);
}

}  // namespace
}  // namespace ft
