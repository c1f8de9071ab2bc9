// The YAML layer against hostile and broken text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/yaml/document.hpp"
#include "common/yaml/scalar.hpp"

namespace trainward::yaml {
namespace {

std::string first_problem(std::string_view text, const Limits& limits = {}) {
  const Document document = parse(text, limits);
  if (document.problems.empty()) return "";
  const Problem& problem = document.problems.front();
  return std::to_string(problem.mark.line) + ":" + std::to_string(problem.mark.column) + ": " +
         problem.message;
}

TEST(Yaml, KnowsWhereEverythingStood) {
  const Document document = parse("a:\n  - x\n  - {b: \"5\"}\nc:\n");
  ASSERT_TRUE(document.problems.empty());
  const Node* a = document.root.find("a");
  ASSERT_NE(a, nullptr);
  ASSERT_EQ(a->items.size(), 2U);
  EXPECT_EQ(a->items[0].mark, (Mark{2, 5, 0}));
  const Node* b = a->items[1].find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_TRUE(b->quoted);
  EXPECT_EQ(b->mark, (Mark{3, 9, 0}));
  // An empty value stands where its key does.
  EXPECT_EQ(document.root.find("c")->mark, (Mark{4, 1, 0}));
}

TEST(Yaml, RefusesAnchorsAliasesAndTags) {
  EXPECT_EQ(first_problem("a: &x 1\n"), "1:4: anchors (&x) are not supported; write the value out");
  const Document document = parse("a: &x 1\nb: *x\n");
  ASSERT_EQ(document.problems.size(), 2U);
  EXPECT_EQ(document.problems[1].mark, (Mark{2, 4, 0}));
  EXPECT_EQ(first_problem("a: !!str 1\n"),
            "1:4: tags (tag:yaml.org,2002:str) are not supported; write the plain value");
}

TEST(Yaml, RefusesASecondDocumentAndOddKeys) {
  EXPECT_THAT(first_problem("a: 1\n---\nb: 2\n"), testing::HasSubstr("second document"));
  EXPECT_EQ(first_problem("{[1]: 2}\n"), "1:2: a key must be a single word or text");
  EXPECT_EQ(first_problem("~: 2\n"), "1:1: a key must be a single word or text");
}

TEST(Yaml, BoundsDepthAndCount) {
  EXPECT_THAT(first_problem(std::string(400, '[')), testing::HasSubstr("deeper than 16 levels"));
  EXPECT_THAT(first_problem(std::string(100'000, '[')), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(first_problem("[1,2,3,4,5]", {.max_nodes = 4}),
              testing::HasSubstr("more than 4 values"));
  std::string bomb = "a: &a [x,x]\n";
  for (char c = 'b'; c < 'z'; ++c) {
    bomb += std::string(1, c) + ": &" + c + " [*" + char(c - 1) + ",*" + char(c - 1) + "]\n";
  }
  EXPECT_THAT(first_problem(bomb), testing::HasSubstr("not supported"));
}

TEST(Yaml, ReportsSyntaxErrorsWithTheirPlace) {
  EXPECT_EQ(first_problem("a: [1, 2\nb: 3\n").substr(0, 2), "2:");
  EXPECT_EQ(first_problem("a: 'x'\nb: 'it''s\nc: 1\n"),
            "2:4: the quoted text that begins here is never closed");
  EXPECT_EQ(first_problem("a: \"x\\\"\n"), "1:4: the quoted text that begins here is never closed");
  EXPECT_EQ(first_problem("a: \"x\\\\\"\nb: 'it''s'\nc: |\n  'x\n"), "");
  EXPECT_THAT(first_problem("a: *missing\n"), testing::HasSubstr("not valid YAML"));
  EXPECT_EQ(parse("a: [").root.kind, Node::Kind::refused);
}

TEST(Yaml, SurvivesEveryPrefixOfAFile) {
  const std::string text = "a: {b: [1, 'x', \"y\\n\"], c: |\n  t\n}\n? k\n: v\n- &q !!t *z # c\n";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    parse(text.substr(0, length));
    parse(text.substr(length));
  }
}

TEST(YamlScalars, AreStrict) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("+12"), 12);
  EXPECT_FALSE(parse_integer("1e3"));
  EXPECT_FALSE(parse_integer("+-1"));
  EXPECT_FALSE(parse_integer("0x10"));
  EXPECT_FALSE(parse_integer("9223372036854775808"));
  EXPECT_EQ(parse_number("1.0e-8"), 1e-8);
  EXPECT_FALSE(parse_number("inf"));
  EXPECT_FALSE(parse_number("1e999"));
  EXPECT_FALSE(parse_number(""));
  EXPECT_EQ(parse_duration_ms("1.5h"), 5'400'000);
  EXPECT_EQ(parse_duration_ms("0s"), 0);
  EXPECT_FALSE(parse_duration_ms("60"));
  EXPECT_FALSE(parse_duration_ms("-1s"));
  EXPECT_FALSE(parse_duration_ms("1.2.3s"));
  EXPECT_FALSE(parse_duration_ms("5m"));
  EXPECT_FALSE(parse_duration_ms("99999999999999d"));
  EXPECT_EQ(duration_text(90'000), "90s");
  EXPECT_EQ(duration_text(0), "0ms");
}

TEST(YamlScalars, SizesWantAUnit) {
  EXPECT_EQ(parse_size_bytes("64MiB"), 64 << 20);
  EXPECT_EQ(parse_size_bytes("1.5KiB"), 1536);
  EXPECT_EQ(parse_size_bytes("2TiB"), std::int64_t{2} << 40);
  EXPECT_FALSE(parse_size_bytes("64"));
  EXPECT_EQ(parse_size_bytes("64 MiB"), 64 << 20);
  EXPECT_EQ(parse_size_bytes("64MB"), 64'000'000);
  EXPECT_EQ(parse_size_bytes("5gb"), 5'000'000'000);
  EXPECT_EQ(parse_size_bytes("5G"), 5'000'000'000);
  EXPECT_EQ(parse_size_bytes("5Gi"), std::int64_t{5} << 30);
  EXPECT_EQ(parse_size_bytes("300B"), 300);
  for (const char* wrong : {"5  GB", "5 ", "GB", "5GBs", "5bi", "5i", "5X", "1.2.3GB"}) {
    EXPECT_FALSE(parse_size_bytes(wrong)) << wrong;
  }
  EXPECT_FALSE(parse_size_bytes("-1MiB"));
  EXPECT_FALSE(parse_size_bytes("99999999999TiB"));
  EXPECT_EQ(size_text(64 << 20), "64MiB");
  EXPECT_EQ(size_text(1000), "1000B");
}

TEST(YamlScalars, TextsReadBackAsTheyWere) {
  EXPECT_EQ(text_scalar("python3"), "python3");
  EXPECT_EQ(text_scalar("5"), "'5'");
  EXPECT_EQ(text_scalar("it's"), "'it''s'");
  for (const std::string text :
       {"",     "-",   "--x", "~",     "null", "true", "1e5",  "a: b",
        "a #b", "{x}", "[a]", " lead", "@a",   "%x",   "it's", "\"q\"\n\t\x01\\",
        "ä €",  "*a",  "&a",  "!x",    "|",    "a,b",  "---",  "=",
        "Yes"}) {
    const Document list = parse("a: [" + text_scalar(text) + "]\nb: " + text_scalar(text) + "\n");
    ASSERT_TRUE(list.problems.empty()) << text << list.problems.front().message;
    EXPECT_EQ(list.root.find("a")->items.at(0).text, text);
    EXPECT_EQ(list.root.find("b")->text, text);
    EXPECT_EQ(list.root.find("b")->kind, Node::Kind::scalar) << text;
  }
}

}  // namespace
}  // namespace trainward::yaml
