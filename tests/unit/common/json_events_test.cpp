// JSON told piece by piece, wherever it is cut.
#include "common/base/json/json_events.hpp"

#include <gmock/gmock.h>

#include <random>

#include "common/base/json/json.hpp"

namespace trainward {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Every call, in a line.
class Record : public JsonListener {
 public:
  void value(JsonWay at, const JsonScalar& value) override {
    lines.push_back(way(at) + "=" + std::visit([](const auto& one) { return text(one); }, value));
  }
  void begin(JsonWay at, bool list) override { lines.push_back(way(at) + (list ? "[" : "{")); }
  void end(JsonWay at, std::size_t entries) override {
    lines.push_back(way(at) + "#" + std::to_string(entries));
  }
  std::vector<std::string> lines;

 private:
  static std::string way(JsonWay at) {
    std::string out;
    for (const JsonLevel& level : at) {
      out += "/" + (level.list ? std::to_string(level.index) : level.key);
    }
    return out;
  }
  static std::string text(std::nullptr_t) { return "null"; }
  static std::string text(bool value) { return value ? "yes" : "no"; }
  static std::string text(std::string_view value) { return "'" + std::string(value) + "'"; }
  template <typename Number>
  static std::string text(Number value) {
    return fmt::format("{}", value);
  }
};

Result<std::vector<std::string>> told(std::string_view text, std::size_t piece = SIZE_MAX) {
  Record record;
  JsonEvents events(record, "here");
  while (!text.empty()) {
    const auto part = text.substr(0, piece);
    if (auto ok = events.write(part); !ok) return propagate(ok);
    text.remove_prefix(part.size());
  }
  if (auto ok = events.finish(); !ok) return propagate(ok);
  return record.lines;
}

constexpr std::string_view sample =
    R"({"a": [1, -2, 18446744073709551615, 2.5e3], "b\u00e9": {"c": null, "d": true}, "e": "x\ny"} )";

TEST(JsonEvents, EachValueComesWithItsWay) {
  EXPECT_THAT(told(sample).value(),
              ElementsAre("{", "/a[", "/a/0=1", "/a/1=-2", "/a/2=18446744073709551615", "/a/3=2500",
                          "/a#4", "/b\u00e9{", "/b\u00e9/c=null", "/b\u00e9/d=yes", "/b\u00e9#2",
                          "/e='x\ny'", "#3"));
  EXPECT_THAT(told("7").value(), ElementsAre("=7"));
  EXPECT_THAT(told("[]").value(), ElementsAre("[", "#0"));
}

TEST(JsonEvents, WhereverItIsCut) {
  const auto whole = told(sample).value();
  for (std::size_t piece = 1; piece < sample.size(); ++piece) {
    EXPECT_EQ(told(sample, piece).value(), whole) << piece;
  }
}

TEST(JsonEvents, WhatIsNoJsonIsRefused) {
  for (const char* bad : {"", " ", "{", "[1,", "{\"a\" 1}", "nul", "[1]]", "{} x", "\"\xff\""}) {
    for (const std::size_t piece : {std::size_t{1}, SIZE_MAX}) {
      const auto refused = told(bad, piece);
      ASSERT_FALSE(refused) << bad;
      EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
      EXPECT_EQ(refused.error().where, "here");
    }
  }
  EXPECT_TRUE(told(std::string(32, '[') + std::string(32, ']')));
  EXPECT_FALSE(told(std::string(33, '[') + std::string(33, ']')));
  EXPECT_FALSE(told(std::string(1'000'000, '[')));
}

TEST(JsonEvents, LongTextsAreCutAndTheRestGoesOn) {
  const std::string text = fmt::format(R"({{"{0}": "{0}", "b": 1}})", std::string(300'000, 'k'));
  for (const std::size_t piece : {std::size_t{999}, SIZE_MAX}) {
    const auto lines = told(text, piece).value();
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[1], "/" + std::string(1024, 'k') + "='" + std::string(1024, 'k') + "'");
    EXPECT_EQ(lines[2], "/b=1");
  }
}

// The ordinary parser and this one take and refuse the same.
TEST(JsonEvents, AgreesWithTheParserOfWholeTexts) {
  constexpr unsigned seed = 20261127;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 5'000; ++round) {
    std::string text(sample);
    for (unsigned i = random() % 3; i > 0; --i)
      text[random() % text.size()] = "{}[],:\"0\\ x"[random() % 11];
    EXPECT_EQ(told(text, 1 + random() % 40).has_value(), parse_json(text, "").has_value()) << text;
  }
}

}  // namespace
}  // namespace trainward
