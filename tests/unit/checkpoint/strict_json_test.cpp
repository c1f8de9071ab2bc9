#include "checkpoint/format/strict_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace trainward::checkpoint {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  auto value = parse_strict_json(text, "here");
  if (value) return "accepted: " + json::serialize(*value);
  EXPECT_EQ(value.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(value.error().where, "here");
  return value.error().what;
}

TEST(StrictJson, AgreesWithTheOrdinaryParser) {
  const std::string_view text =
      R"( {"a": [1, -2, 18446744073709551615, true, null, "x\ny\u00e9\ud83d\ude00"], "b": {"": {}}} )";
  auto value = parse_strict_json(text, "here");
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(*value, json::parse(text));
}

TEST(StrictJson, RefusesDuplicateKeysAtEveryDepth) {
  EXPECT_THAT(refusal(R"({"a":1,"b":2,"a":3})"), HasSubstr("key 'a' twice"));
  EXPECT_THAT(refusal(R"({"x":[{"a":1,"\u0061":1}]})"), HasSubstr("key 'a' twice"));
  EXPECT_TRUE(parse_strict_json(R"([{"a":1},{"a":{"a":1}}])", "here"));
}

TEST(StrictJson, RefusesWhatIsNotJson) {
  for (const char* text : {"", " ", "{", "}", "[1,]", "{\"a\":1,}", "nul", "+1", "1.", ".5", "'a'",
                           "\"\\ud800\"", "\"\xff\"", "\"\xc0\x80\"", "\"a\nb\"", "NaN"}) {
    EXPECT_THAT(refusal(text), HasSubstr("not valid JSON")) << text;
  }
  EXPECT_THAT(refusal("{} x"), HasSubstr("extra characters"));
  EXPECT_THAT(refusal("01"), HasSubstr("extra characters"));
  EXPECT_THAT(refusal("1 1"), HasSubstr("extra characters"));
}

TEST(StrictJson, RefusesDeepNesting) {
  const std::string deep(100'000, '[');
  EXPECT_THAT(refusal(deep), HasSubstr("not valid JSON"));
  EXPECT_TRUE(parse_strict_json(std::string(32, '[') + std::string(32, ']'), "here"));
  EXPECT_THAT(refusal(std::string(33, '[') + std::string(33, ']')), HasSubstr("not valid JSON"));
}

TEST(StrictJson, EveryDoubleComesBackExactly) {
  std::mt19937_64 random(20240607);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = std::bit_cast<double>(random());
    const json::object object{{"x", json_number(number)}};
    auto value = parse_strict_json(json::serialize(object), "here");
    ASSERT_TRUE(value) << value.error().message();
    auto back = number_from_json(value->get_object(), "x");
    ASSERT_TRUE(back) << back.error().message();
    if (std::isnan(number)) {
      EXPECT_TRUE(std::isnan(*back));
    } else {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(*back), std::bit_cast<std::uint64_t>(number));
    }
  }
}

TEST(StrictJson, ZeroKeepsItsSignAndWholeNumbersStayWhole) {
  auto value = parse_strict_json("[0, -0, 0.0, -0.0, 1e0]", "here");
  ASSERT_TRUE(value);
  const json::array& array = value->get_array();
  EXPECT_TRUE(array[0].is_int64());
  EXPECT_TRUE(array[1].is_double() && std::signbit(array[1].get_double()));
  EXPECT_TRUE(array[2].is_double() && !std::signbit(array[2].get_double()));
  EXPECT_TRUE(array[3].is_double() && std::signbit(array[3].get_double()));
  EXPECT_TRUE(array[4].is_double());
}

TEST(StrictJson, WhatIsNotANumberIsWrittenAsText) {
  EXPECT_EQ(json_number(std::numeric_limits<double>::quiet_NaN()), json::value("nan"));
  EXPECT_EQ(json_number(-std::numeric_limits<double>::infinity()), json::value("-inf"));
  EXPECT_FALSE(number_from_json({{"x", "many"}}, "x"));
  EXPECT_FALSE(number_from_json({}, "x"));
  EXPECT_THAT(refusal("1e999"), HasSubstr("1e999"));
}

}  // namespace
}  // namespace trainward::checkpoint
