// The template language against python3-jinja2, and against templates that mean harm.
#include <pthread.h>

#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ft/error.h"
#include "tests/text/template_oracle.h"
#include "text/chat_template.h"

namespace ft {
namespace {

using testing::ContainsRegex;
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
  EXPECT_EQ(render("{{ (-9223372036854775807 - 1) % -1 }}").text, "0");
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

// ---- limits

void run_on_small_stack(const std::function<void()>& work) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr size_t kStackBytes = 2 << 20;  // sanitizers pad every frame
#else
  constexpr size_t kStackBytes = 256 << 10;
#endif
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  pthread_t thread{};
  auto run = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)),
            0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

std::string repeat(const std::string& text, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += text;
  return all;
}

TEST(Jinja, DeepNestingEndsInAnErrorOnASmallStack) {
  constexpr int kMany = 100000;
  const std::vector<std::string> sources = {
      "{{ " + repeat("(", kMany) + "1" + repeat(")", kMany) + " }}",
      "{{ " + repeat("[", kMany) + repeat("]", kMany) + " }}",
      "{{ " + repeat("{1:", kMany) + "1" + repeat("}", kMany) + " }}",
      "{{ " + repeat("not ", kMany) + "1 }}",
      "{{ " + repeat("-", kMany) + "1 }}",
      "{{ " + repeat("a[", kMany) + "1" + repeat("]", kMany) + " }}",
      "{{ " + repeat("f(", kMany) + repeat(")", kMany) + " }}",
      "{{ " + repeat("1 if 1 else ", 50000) + "1 }}",
      "{{ 1" + repeat("|d(2", kMany) + repeat(")", kMany) + " }}",
      repeat("{% if 1 %}", 40000) + "{{ 1 }}",
      repeat("{% for x in [1] %}", 40000),
      "{% set " + repeat("(", kMany) + "a" + repeat(")", kMany) + " = 1 %}",
      "{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}",
      "{% macro m(x) %}" + repeat("{% if 1 %}", 50) + "{{ ((((((((1 + m(x)))))))))|upper }}" +
          repeat("{% endif %}", 50) + "{% endmacro %}{{ m(1) }}",
      "{% macro m(x) %}{% call m(x) %}{{ caller() }}{% endcall %}{% endmacro %}{{ m(1) }}",
      "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% endfor "
      "%}{{ ns.x }}",
      "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = {'a': ns.x} %}{% "
      "endfor %}{{ ns.x|tojson }}",
      "{% set ns = namespace(x=[], y=[]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% "
      "set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
      "{% set ns = namespace(x=[], y=[]) %}{% for i in range(50000) %}{% set ns.x = [ns.x] %}{% "
      "set ns.y = [ns.y] %}{% endfor %}{{ ns.x < ns.y }}",
      "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
      "{{ 'a'|map(*(['map'] * 1000))|list }}",
      "{% set ns = namespace() %}{% macro m() %}{% for x in [1] if ns.m() %}{% endfor %}{% "
      "endmacro %}{% set ns.m = m %}{{ m() }}",
  };
  for (const std::string& source : sources) {
    Outcome outcome;
    run_on_small_stack([&] { outcome = render(source); });
    EXPECT_THAT(outcome.error, ContainsRegex("deep")) << source.substr(0, 80);
    EXPECT_EQ(outcome.kind, ErrorKind::kBadInput);
  }
}

TEST(Jinja, NestingThatTemplatesUseWorksOnASmallStack) {
  std::string statements = repeat("{% if 1 %}", 30) + "x" + repeat("{% endif %}", 30);
  std::string expression = "{{ " + repeat("(1 + ", 50) + "1" + repeat(")", 50) + " }}";
  std::string recursion =
      "{% macro m(x) %}{% if x > 0 %}{% for i in [1] %}{{ m(x - 1) ~ 'y' }}{% endfor %}{% endif %}"
      "{% endmacro %}{{ m(25) }}";
  std::string chain = "{{ 1" + repeat(" + 1", 20000) + " }}{{ 'a'" + repeat(" ~ 'a'", 2000) +
                      " }}{{ 'a'" + repeat("|upper", 2000) + " }}";
  run_on_small_stack([&] {
    EXPECT_EQ(render(statements).text, "x");
    EXPECT_EQ(render(expression).text, "51");
    EXPECT_EQ(render(recursion).text, repeat("y", 25));
    EXPECT_EQ(render(chain).text, "20001" + repeat("a", 2001) + "A");
  });
}

TEST(Jinja, EndlessWorkEndsInAnError) {
  const std::string kNest =
      repeat("{% for a in range(100000) %}", 4) + "x" + repeat("{% endfor %}", 4);
  const std::vector<std::string> sources = {
      kNest,
      "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% "
      "endfor %}",
      "{% set ns = namespace(x=[1, 2]) %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% "
      "endfor %}",
      "{{ 'x' * 100000000000 }}",
      "{{ [1] * 100000000000 }}",
      "{{ '' * 9000000000000000000 }}{{ [] * 9000000000000000000 }}{{ range(10000000) }}",
      "{{ range(0, 9223372036854775807, 1)|list }}",
      "{{ ('x' * 10000000)|replace('', 'x' * 10000000) }}",
      "{{ ('x' * 10000000)|join('y' * 10000000) }}",
      "{{ 'x'|center(1000000000000) }}",
      "{{ 'x'.zfill(1000000000000) }}{{ '%1000000d' % 1 }}",
      "{{ '%99999999999d' % 1 }}",
      "{{ 'x'|indent(1000000000000) }}",
      "{{ [1]|tojson(indent=1000000000000) }}",
      "{{ [1]|batch(1000000000000, 1)|list }}",
      "{{ [1]|slice(1000000000000)|list }}",
      "{% set x = 'x' * 1000000 %}{% for i in range(100000) %}{% set y = x.find('y') %}{% endfor "
      "%}",
      "{% set x = 'x' * 1000000 %}{% for i in range(100000) %}{% set y = x == x ~ 'y' %}{% endfor "
      "%}",
      "{% set x = 'x' * 1000000 %}{% for i in range(100000) %}{{ x }}{% endfor %}",
      "{% set x = ('é' * 1000000) %}{% for i in range(100000) %}{% set y = x[i] %}{% endfor %}",
      "{% set x = range(100000)|list %}{% for i in x %}{% set y = -1 in x %}{% endfor %}",
      "{% set x = range(100000)|list %}{% for i in x %}{% set y = x|sort %}{% endfor %}",
      "{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(40) "
      "}}",
      "{% macro m() %}{{ varargs }}{% endmacro %}{% for i in range(100000) %}{{ m(*range(100000)) "
      "}}{% endfor %}",
  };
  for (const std::string& source : sources) {
    Outcome outcome = render(source);
    EXPECT_NE(outcome.error, "") << source.substr(0, 100);
    EXPECT_EQ(outcome.kind, ErrorKind::kBadInput) << outcome.error;
  }
}

// 1.5 MB each. Quadratic work would take hours.
TEST(Jinja, LongTextsTakeLinearTime) {
  std::string content = repeat("ab ", 1 << 19);
  Json variables = {{"s", content}, {"a", repeat("a", 1 << 20)}, {"n", repeat("a", 1 << 19) + "b"}};
  for (const char* source : {"{{ s|trim }}",
                             "{{ s|upper }}",
                             "{{ s.split(' ')|length }}",
                             "{{ s.split()|length }}",
                             "{{ s|replace('a', 'bc') }}",
                             "{{ s[::-1] }}",
                             "{{ s.count('ab') }}",
                             "{{ s|tojson }}",
                             "{{ [s] }}",
                             "{{ s.rfind('zz') }}",
                             "{{ a.find(n) }}",
                             "{{ a.rfind('b' ~ a[1:]) }}",
                             "{{ n in a }}",
                             "{{ a.split(n)|length }}",
                             "{{ s.rsplit('b ')|length }}",
                             "{{ s|title }}",
                             "{{ s|wordcount }}",
                             "{{ s|indent }}",
                             "{{ s|escape }}",
                             "{{ s in s }}",
                             "{{ s.splitlines()|length }}",
                             "{{ s[:100000]|list|length }}",
                             "{{ s % () }}"}) {
    EXPECT_EQ(render(source, variables.dump()).error, "") << source;
  }
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
