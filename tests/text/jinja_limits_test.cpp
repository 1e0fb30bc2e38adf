// Templates that mean harm: they end in an Error, on a small stack and before long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ft/error.h"
#include "tests/text/small_stack.h"
#include "tests/text/template_oracle.h"
#include "text/jinja/eval.h"
#include "text/jinja/parser.h"

namespace ft {
namespace {

using testing::HasSubstr;

// Steps under a sanitizer take about ten times as long.
constexpr uint64_t kSteps = kIsSanitized ? 300'000 : jinja::Limits().n_steps;

struct Outcome {
  std::string text;
  std::string error;
  ErrorKind kind = ErrorKind::kIo;
};

Outcome render(const std::string& source, const std::string& variables_json = "{}",
               uint64_t n_steps = jinja::Limits().n_steps) {
  Outcome outcome;
  try {
    jinja::Limits limits;
    limits.n_steps = n_steps;
    jinja::Run run("t", limits);
    jinja::Value variables = jinja::parse_json(run, variables_json, "variables");
    jinja::Body body = jinja::parse_template(source, "t");
    run.forget_charges();
    outcome.text = jinja::Evaluator(run, *variables.dict()).render(body)->bytes();
  } catch (const Error& error) {
    outcome.error = error.what();
    outcome.kind = error.kind();
  }
  return outcome;
}

std::string repeat(const std::string& text, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += text;
  return all;
}

TEST(JinjaLimits, DeepNestingEndsInAnErrorOnASmallStack) {
  constexpr int kMany = kIsSanitized ? 2000 : 100000;
  const std::string range = "range(" + std::to_string(kMany / 2) + ")";
  const std::vector<std::string> sources = {
      "{{ " + repeat("(", kMany) + "1" + repeat(")", kMany) + " }}",
      "{{ " + repeat("[", kMany) + repeat("]", kMany) + " }}",
      "{{ " + repeat("{1:", kMany) + "1" + repeat("}", kMany) + " }}",
      "{{ " + repeat("not ", kMany) + "1 }}",
      "{{ " + repeat("-", kMany) + "1 }}",
      "{{ " + repeat("a[", kMany) + "1" + repeat("]", kMany) + " }}",
      "{{ " + repeat("f(", kMany) + repeat(")", kMany) + " }}",
      "{{ " + repeat("1 if 1 else ", kMany) + "1 }}",
      "{{ 1" + repeat("|d(2", kMany) + repeat(")", kMany) + " }}",
      repeat("{% if 1 %}", kMany) + "{{ 1 }}",
      repeat("{% for x in [1] %}", kMany),
      "{% set " + repeat("(", kMany) + "a" + repeat(")", kMany) + " = 1 %}",
      "{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}",
      "{% macro m(x) %}" + repeat("{% if 1 %}", 50) + "{{ ((((((((1 + m(x)))))))))|upper }}" +
          repeat("{% endif %}", 50) + "{% endmacro %}{{ m(1) }}",
      "{% macro m(x) %}{% call m(x) %}{{ caller() }}{% endcall %}{% endmacro %}{{ m(1) }}",
      "{% set ns = namespace(x=[]) %}{% for i in " + range +
          " %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
      "{% set ns = namespace(x=[]) %}{% for i in " + range +
          " %}{% set ns.x = {'a': ns.x} %}{% endfor %}{{ ns.x|tojson }}",
      "{% set ns = namespace(x=[], y=[]) %}{% for i in " + range +
          " %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
      "{% set ns = namespace(x=[], y=[]) %}{% for i in " + range +
          " %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x < ns.y }}",
      "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}",
      "{{ 'a'|map(*(['map'] * 1000))|list }}",
      "{% set ns = namespace() %}{% macro m() %}{% for x in [1] if ns.m() %}{% endfor %}{% "
      "endmacro %}{% set ns.m = m %}{{ m() }}",
  };
  for (const std::string& source : sources) {
    Outcome outcome;
    run_on_small_stack([&] { outcome = render(source); });
    EXPECT_THAT(outcome.error, HasSubstr("deep")) << source.substr(0, 80);
    EXPECT_EQ(outcome.kind, ErrorKind::kBadInput);
  }
}

// What repeats without nesting makes no tree that is deep, however long it is.
TEST(JinjaLimits, LongChainsNeedNoStack) {
  constexpr int kMany = kIsSanitized ? 10000 : 100000;
  const auto chain = [](const std::string& first, const std::string& more) {
    return "{{ " + first + repeat(more, kMany) + " }}";
  };
  const std::vector<std::pair<std::string, std::string>> chains = {
      {chain("7", " if 1"), "7"},
      {chain("7 if 0 else 8", " if 1"), "8"},
      {chain("7", " if 1") + chain("8", " if 0"), "7"},
      {chain("1", " + 1"), std::to_string(kMany + 1)},
      {chain("1", " - 1"), std::to_string(1 - kMany)},
      {chain("1", " * 1"), "1"},
      {chain("1", " ** 1"), "1"},
      {chain("'a' ~ 'a'", " ~ ''"), "aa"},
      {chain("1", " and 1"), "1"},
      {chain("0", " or 0"), "0"},
      {chain("1", " == 1"), "True"},
      {chain("1", " <= 1"), "True"},
      {chain("'a'", "[0]"), "a"},
      {chain("'a'", "|upper"), "A"},
      {chain("'a'", " 'a'") + "x", repeat("a", kMany + 1) + "x"},
      {"{{ [0" + repeat(", 0", kMany) + "]|length }}", std::to_string(kMany + 1)},
      {"{{ {0: 0" + repeat(", 0: 0", kMany) + "}|length }}", "1"},
      {"{% if 0 %}" + repeat("{% elif 0 %}", kMany) + "{% else %}x{% endif %}", "x"},
      {repeat("{% if 1 %}x{% endif %}", kMany), repeat("x", kMany)},
      {"{% set x" + repeat("|upper", kMany) + " %}a{% endset %}{{ x }}", "A"},
  };
  for (const auto& [source, expected] : chains) {
    Outcome outcome;
    run_on_small_stack([&, &source = source] { outcome = render(source); });
    EXPECT_EQ(outcome.error, "") << source.substr(0, 80);
    EXPECT_TRUE(outcome.text == expected) << source.substr(0, 80);
  }
  for (const std::string& source :
       {chain("x", ".a"), chain("x", "()"), chain("x", " is defined"), chain("x", " not in 1"),
        "{{ range(1" + repeat(", 1", kMany) + ") }}",
        "{% set a" + repeat(", a", kMany) + " = 1, 2 %}"}) {
    Outcome outcome;
    run_on_small_stack([&] { outcome = render(source); });
    EXPECT_NE(outcome.error, "") << source.substr(0, 80);
  }
}

// All levels of precedence in each of the levels of nesting, to the left and to the right.
TEST(JinjaLimits, NestingOfAllOperatorsNeedsLittleStack) {
  for (int n = 1; n < 70; n += kIsSanitized ? 7 : 1) {
    for (const std::string& source :
         {"{{ " + repeat("(", n) + "1" + repeat(" ** 1 * 1 ~ 1 + 1 == 1 and 1 or 1 if 1)", n) +
              " }}",
          "{{ " + repeat("1 if 1 else 1 or 1 and 1 == 1 + 1 ~ 1 * 1 ** (", n) + "1" +
              repeat(")", n) + " }}",
          "{{ " + repeat("1 or 1 and not 1 == 1 + 1 ~ 1 * 1 ** -x[", n) + "1" + repeat("]", n) +
              " }}",
          repeat("{% for i in [1] %}{% if 1 %}", n) + "x" + repeat("{% endif %}{% endfor %}", n)}) {
      Outcome outcome;
      run_on_small_stack([&] { outcome = render(source); });
      EXPECT_TRUE(outcome.error.empty() || outcome.kind == ErrorKind::kBadInput) << outcome.error;
    }
  }
}

TEST(JinjaLimits, NestingThatTemplatesUseWorksOnASmallStack) {
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

class JinjaEndlessWork : public testing::TestWithParam<const char*> {};

TEST_P(JinjaEndlessWork, EndsInAnError) {
  std::string keys;
  for (int i = 0; i < 20000; ++i) keys += (i == 0 ? "\"k" : ", \"k") + std::to_string(i) + "\": 1";
  Outcome outcome = render(GetParam(), "{\"keys\": {" + keys + "}}", kSteps);
  EXPECT_NE(outcome.error, "");
  EXPECT_EQ(outcome.kind, ErrorKind::kBadInput) << outcome.error;
}

INSTANTIATE_TEST_SUITE_P(
    All, JinjaEndlessWork,
    testing::Values(
        "{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}x"
        "{% endfor %}{% endfor %}{% endfor %}",
        "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% "
        "endfor %}",
        "{% set ns = namespace(x=[1, 2]) %}{% for i in range(100) %}{% set ns.x = ns.x + ns.x %}{% "
        "endfor %}",
        "{{ 'x' * 100000000000 }}", "{{ [1] * 100000000000 }}",
        "{{ '' * 9000000000000000000 }}{{ [] * 9000000000000000000 }}{{ range(10000000) }}",
        "{{ range(0, 9223372036854775807, 1)|list }}",
        "{{ ('x' * 10000000)|replace('', 'x' * 10000000) }}",
        "{{ ('x' * 10000000)|join('y' * 10000000) }}", "{{ 'x'|center(1000000000000) }}",
        "{{ 'x'.zfill(1000000000000) }}{{ '%1000000d' % 1 }}", "{{ '%99999999999d' % 1 }}",
        "{{ 'x'|indent(1000000000000) }}", "{{ [1]|tojson(indent=1000000000000) }}",
        "{{ [1]|batch(1000000000000, 1)|list }}", "{{ [1]|slice(1000000000000)|list }}",
        "{% set x = 'x' * 1000000 %}{% for i in range(100000) %}{% set y = x.find('y') %}{% endfor "
        "%}",
        "{% set x = 'x' * 1000000 %}{% for i in range(100000) %}{% set y = x == x ~ 'y' %}{% "
        "endfor "
        "%}",
        "{% set x = 'x' * 1000000 %}{% for i in range(100000) %}{{ x }}{% endfor %}",
        "{% set x = ('é' * 1000000) %}{% for i in range(100000) %}{% set y = x[i] %}{% endfor %}",
        "{% set x = range(100000)|list %}{% for i in x %}{% set y = -1 in x %}{% endfor %}",
        "{% set x = range(100000)|list %}{% for i in x %}{% set y = x|sort %}{% endfor %}",
        "{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ "
        "m(40) "
        "}}",
        "{% macro m() %}{{ varargs }}{% endmacro %}{% for i in range(100000) %}{{ "
        "m(*range(100000)) "
        "}}{% endfor %}",
        "{% set k = 'x' * 1000000 %}{% set d = {k: 1} %}{% for i in range(100000) %}{% set y = "
        "d[k] %}"
        "{% endfor %}",
        "{% set k = 'x' * 1000000 %}{% for i in range(100000) %}{% set y = k in {k: 1} %}{% endfor "
        "%}",
        "{% macro m() %}{% endmacro %}{{ m(**keys) }}"));

// 1.5 MB each. Quadratic work would take hours.
TEST(JinjaLimits, LongTextsTakeLinearTime) {
  constexpr int kMany = kIsSanitized ? 1 << 14 : 1 << 19;
  Json variables = {
      {"s", repeat("ab ", kMany)}, {"a", repeat("a", 2 * kMany)}, {"n", repeat("a", kMany) + "b"}};
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
                             "{{ s in s }}",
                             "{{ s.splitlines()|length }}",
                             "{{ s[:100000]|list|length }}",
                             "{{ s % () }}"}) {
    EXPECT_EQ(render(source, variables.dump()).error, "") << source;
  }
}

// Keys that no hash could tell apart: one value, or integers that share a float.
TEST(JinjaLimits, KeysThatCollideTakeLinearTime) {
  EXPECT_EQ(render("{% set n = 'nan'|float %}{{ ([n] * 100000)|unique|list|length }}"
                   "{{ ([n, -n, 1e400 - 1e400] * 30000)|unique|list|length }}")
                .text,
            "11");
  EXPECT_EQ(render("{{ range(4611686018427387904, 4611686018427487904)|unique|list|length }}").text,
            "100000");
}

}  // namespace
}  // namespace ft
