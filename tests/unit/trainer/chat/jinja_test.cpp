// What templates mean, where no other implementation of Jinja is at hand; the comparison with one
// is oracle_test.py.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "rendered.hpp"

namespace trainward::trainer::jinja {
namespace {

TEST(JinjaWhiteSpace, LineEndsBehindBlocksAndSpaceBeforeThemAreDropped) {
  EXPECT_EQ(rendered("a\n  {% if true %}\n  b\n  {% endif %}\nc\n"), "a\n  b\nc");
  EXPECT_EQ(rendered("a\n  {{ 'b' }}\nc"), "a\n  b\nc") << "not around what is printed";
  EXPECT_EQ(rendered("a\n  {# note #}\nb"), "a\nb");
  EXPECT_EQ(rendered("x {% set a = 1 %} y"), "x  y") << "the line does not begin with the tag";
}

TEST(JinjaWhiteSpace, SignsSayOtherwise) {
  EXPECT_EQ(rendered("a \n {{- 'b' -}} \n c"), "abc");
  EXPECT_EQ(rendered("a\n  {%+ if true +%}\nb{% endif %}"), "a\n  \nb");
}

TEST(JinjaWhiteSpace, OneLineEndAtTheEndIsNotTheTemplates) {
  EXPECT_EQ(rendered("a\n"), "a");
  EXPECT_EQ(rendered("a\n\n"), "a\n");
  EXPECT_EQ(rendered("a\r\nb\rc\r\n"), "a\nb\nc");
}

TEST(JinjaValues, ArePrintedAsPythonPrintsThem) {
  EXPECT_EQ(rendered("{{ [none, true, 1.0, 'it\\'s', (1,), {'a': 1e16}] }}"),
            "[None, True, 1.0, \"it's\", (1,), {'a': 1e+16}]");
  EXPECT_EQ(rendered("{{ 1 / 3 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 2 ** -1 }}"),
            "0.3333333333333333 -4 2 0.5");
}

TEST(JinjaValues, TextsAreCutWherePythonCutsThem) {
  constexpr std::string_view of =
      R"({"x": "  1  2   3  ", "y": "a\u000bb\fc\u001ed\u0085e\u2028f\r\n\ng\u001fh\n"})";
  EXPECT_EQ(rendered("{{ x.split(none, 1) }}", of), "['1', '2   3  ']");
  EXPECT_EQ(rendered("{{ x.split(maxsplit=0) }}", of), "['1  2   3  ']");
  EXPECT_EQ(rendered("{{ x.split() }}", of), "['1', '2', '3']");
  EXPECT_EQ(rendered("{{ y.splitlines() | join('|') }}", of), "a|b|c|d|e|f||g\x1fh");
  EXPECT_EQ(rendered("{{ ''.splitlines() }}", of), "[]");
}

TEST(JinjaValues, JsonIsNeitherEscapedForPagesNorForAscii) {
  EXPECT_EQ(rendered("{{ x | tojson }}", R"({"x": {"a": ["é<&>", null, 1.0]}})"),
            R"({"a": ["é<&>", null, 1.0]})");
  EXPECT_EQ(rendered("{{ {'a': [1, 2]} | tojson(indent=2) }}"),
            "{\n  \"a\": [\n    1,\n    2\n  ]\n}");
}

TEST(JinjaValues, UndefinedIsEmptyAndItsPartsAreErrors) {
  EXPECT_EQ(rendered("[{{ x }}{{ x.y if false else '' }}]"), "[]");
  EXPECT_EQ(rendered("\n{{ x.y }}"), "line 2: 'y' of 'x', which is undefined");
  EXPECT_EQ(rendered("{{ x + 1 }}"),
            "line 1: 'x' is undefined, and nothing can be calculated with it");
}

TEST(JinjaScopes, LoopsKeepTheirNamesAndNamespacesCarryThemOut) {
  EXPECT_EQ(rendered("{% set a = 1 %}{% for x in [1, 2] %}{% set a = x %}{% endfor %}{{ a }}"),
            "1");
  EXPECT_EQ(rendered("{% set n = namespace(a=1) %}{% for x in [1, 2] %}{% set n.a = x %}{% endfor "
                     "%}{{ n.a }}"),
            "2");
}

TEST(JinjaScopes, ANamespaceThatHoldsItselfIsGoneWithTheRendering) {
  EXPECT_EQ(rendered("{% set n = namespace() %}{% set n.n = [n] %}{{ n.n[0] == n }}"), "True");
  EXPECT_EQ(rendered("{% set n = namespace() %}{% set n.n = [n] %}{{ n.n }}"),
            "line 1: a namespace cannot be printed");
}

TEST(JinjaDate, NeverChanges) {
  EXPECT_EQ(rendered("{{ strftime_now('%d %b %Y') }}"), "26 Jul 2024");
  EXPECT_EQ(rendered("{{ strftime_now('%d %b %Y') }}", R"({"date_string": "1 May 2031"})"),
            "1 May 2031");
  EXPECT_EQ(rendered("{{ strftime_now('%Q') }}"), "line 1: strftime_now with %Q is not supported");
}

TEST(JinjaMarks, WhatPeopleWroteStaysTheirsHoweverItIsCut) {
  auto text = rendered_text(
      "<u>{{ ('[' ~ x | trim | upper ~ ']').split(',') | join('|') }}{{ x[1:3] ~ {'k': x} | tojson "
      "}}",
      R"({"x": " a,<e> "})");
  ASSERT_TRUE(text.has_value());
  std::string theirs;
  std::size_t begin = 0;
  for (const Text::Run& run : text->runs()) {
    if ((run.mark & of_people) != 0) theirs += text->bytes().substr(begin, run.end - begin);
    begin = run.end;
  }
  EXPECT_EQ(text->bytes(), "<u>[A|<E>]a,{\"k\": \" a,<e> \"}");
  EXPECT_EQ(theirs, "A<E>a, a,<e> ");
}

struct Refusal {
  std::string_view source;
  std::string_view what;
};

class JinjaRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(JinjaRefusals, NameTheLineAndTheConstruct) {
  const std::string source = "first line\n\n" + std::string(GetParam().source);
  EXPECT_EQ(rendered(source), "line 3: " + std::string(GetParam().what));
}

INSTANTIATE_TEST_SUITE_P(
    All, JinjaRefusals,
    testing::Values(
        Refusal{"{% include 'x' %}", "{% include %} is not supported"},
        Refusal{"{% import 'x' as y %}", "{% import %} is not supported"},
        Refusal{"{% from 'x' import y %}", "{% from %} is not supported"},
        Refusal{"{% extends 'x' %}", "{% extends %} is not supported"},
        Refusal{"{% block x %}{% endblock %}", "{% block %} is not supported"},
        Refusal{"{% call f() %}{% endcall %}", "{% call %} is not supported"},
        Refusal{"{% filter upper %}{% endfilter %}", "{% filter %} is not supported"},
        Refusal{"{% autoescape true %}{% endautoescape %}", "{% autoescape %} is not supported"},
        Refusal{"{% with a = 1 %}{% endwith %}", "{% with %} is not supported"},
        Refusal{"{% do x.append(1) %}", "{% do %} is not supported"},
        Refusal{"{% for x in y recursive %}{% endfor %}", "a recursive loop is not supported"},
        Refusal{"{% for x in [1] %}{% macro f() %}{% endmacro %}{% endfor %}",
                "a macro inside of a loop or another macro is not supported"},
        Refusal{"{{ x | escape }}", "the filter 'escape' is not supported"},
        Refusal{"{{ x is sameas y }}", "the test 'sameas' is not supported"},
        Refusal{"{{ cycler(1) }}", "'cycler' is not supported"},
        Refusal{"{{ unheard_of(1) }}", "the function 'unheard_of' is not supported"},
        Refusal{"{{ range(*[1]) }}", "an argument with * is not supported"},
        Refusal{"{{ [].append(1) }}", "the method 'append' of a list is not supported"},
        Refusal{"{{ {}.update({}) }}", "the method 'update' of a mapping is not supported"},
        Refusal{"{{ 'a'.encode() }}", "the method 'encode' of a text is not supported"},
        Refusal{"{{ '%s' % 1 }}", "a text with % and values to put into it is not supported"},
        Refusal{"{% for x in [1] %}{{ loop.cycle(1) }}{% endfor %}",
                "the method 'cycle' of a loop is not supported"},
        Refusal{"{{ 9223372036854775807 + 1 }}", "a number beyond 64 bits"},
        Refusal{"{{ 1 + }}", "}} where an expression belongs"},
        Refusal{"{{ 'open }}", "a text has no closing quote"},
        Refusal{"{% if true %}", "{% endif %} is missing"},
        Refusal{"{# open", "a comment {# has no end #}"},
        Refusal{"{% break %}", "break outside of a loop"},
        Refusal{"{{ raise_exception('mind the gap') }}",
                "the template refuses this conversation: mind the gap"}));

std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Each of these would take for ever, or all memory, or the whole stack.
TEST(JinjaBounds, HoldWhateverATemplateAsks) {
  const auto refused_for = [](const std::string& source) {
    const std::string said = rendered(source);
    return said.substr(said.find(": ") + 2);
  };
  EXPECT_EQ(refused_for(std::string(max_template_bytes + 1, 'x')),
            "the template is larger than 256 KiB");
  EXPECT_EQ(refused_for("{% set n = namespace(t='ab') %}{% for i in range(99) %}{% set n.t = n.t ~ "
                        "n.t %}{% endfor %}"),
            "a text of the template grows beyond 8 MiB");
  EXPECT_EQ(refused_for("{{ 'x' * 99999999999 }}"), "a text of the template grows beyond 8 MiB");
  EXPECT_EQ(refused_for("{{ range(99999999) }}"), "range goes over more than 100,000 numbers");
  EXPECT_EQ(refused_for("{% set r = range(90000) | list %}{% for i in r %}{% for j in r %}{% "
                        "endfor %}{% endfor %}"),
            "the template takes more steps than any prompt needs");
  EXPECT_EQ(refused_for("{% set n = namespace(l=[1]) %}{% for i in range(60) %}{% set n.l = [n.l, "
                        "n.l] %}{% endfor %}"),
            "a value of the template holds more than a million others");
  EXPECT_EQ(
      refused_for(
          "{% set n = namespace(l=1) %}{% for i in range(99) %}{% set n.l = [n.l] %}{% endfor %}"),
      "values of the template hold each other more than 64 deep");
  EXPECT_EQ(refused_for("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
            "the template calls itself too often");
  EXPECT_EQ(refused_for("{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}"),
            "expressions stand more than 200 deep in each other");
  EXPECT_EQ(refused_for("{{ 1" + repeated(" + 1", 5000) + " }}"),
            "an expression is made of more than 150 parts inside each other");
  EXPECT_EQ(refused_for("{{ " + repeated("not ", 5000) + "1 }}"), "more than 200 times not");
  EXPECT_EQ(refused_for("{{ 1" + repeated(".a", 5000) + " }}"),
            "an expression is made of more than 150 parts inside each other");
  EXPECT_EQ(refused_for(repeated("{% if true %}", 5000)),
            "tags stand more than 60 deep in each other");
}

}  // namespace
}  // namespace trainward::trainer::jinja
