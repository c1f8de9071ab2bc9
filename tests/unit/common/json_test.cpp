#include "common/base/json/json.hpp"

#include <gtest/gtest.h>

namespace trainward {
namespace {

TEST(Json, ErrorsSayWhere) {
  for (const char* text : {"", "{", "{\"a\":}", "{} x", "\xff", "nul"}) {
    auto value = parse_json(text, "launch.json");
    ASSERT_FALSE(value.has_value()) << text;
    EXPECT_EQ(value.error().kind, ErrorKind::corrupt);
    EXPECT_EQ(value.error().where, "launch.json");
  }
  EXPECT_FALSE(parse_json(std::string(100, '['), "x").has_value()) << "depth is bounded";
  EXPECT_TRUE(parse_json(" {\"a\": 1} \n", "x").has_value());
}

TEST(Json, MembersAreTyped) {
  const json::object object{{"n", 5}, {"s", "five"}, {"big", 18446744073709551615ULL}};
  EXPECT_EQ(get_int(object, "n").value(), 5);
  EXPECT_EQ(get_int(object, "s").error().what, "key 's' is string, expected a whole number");
  EXPECT_EQ(get_string(object, "gone").error().what, "key 'gone' is missing, expected text");
  EXPECT_FALSE(get_int(object, "big").has_value());
  EXPECT_EQ(int_or(object, "s", 7), 7);
  EXPECT_DOUBLE_EQ(number_or(object, "n", 0), 5.0);
}

}  // namespace
}  // namespace trainward
