#include "supervisor/orders/orders.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "supervisor/orders/left.hpp"

namespace trainward::orders {
namespace {

TEST(Orders, ComeBackAsTheyWere) {
  Orders orders;
  orders.state_dir = "/state";
  orders.database = "/state/trainward.db";
  orders.proxy = "http://proxy:3128";
  orders.certificates = "/etc/own.pem";
  const std::string line = line_of(orders);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto back = from_line(line);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(to_json(*back), to_json(orders));
}

TEST(Left, ComesBackAsItWas) {
  Left left;
  left.jobs = {{"upload run/box", 40, 100, ""}, {"channel night", 0, 0, "ntfy.sh: no connection"}};
  left.read_bytes = 7;
  EXPECT_EQ(left_from(line_of(left)), left);
  EXPECT_EQ(left_from(line_of(Left{})), Left{});
  EXPECT_EQ(words_of(left.jobs[0]), "upload run/box, 40 %");
  EXPECT_EQ(words_of(left.jobs[1]), "channel night");
  for (const char* line : {"", "alive", "{}", "[]", R"({"left":7})", R"({"left":[7]})"}) {
    EXPECT_EQ(left_from(line), std::nullopt) << line;
  }
}

TEST(Orders, WhatIsNoneIsRefused) {
  for (const char* line :
       {"", "{", "[]", "7", "{}", R"({"state_dir":"/s"})", R"({"state_dir":7,"database":"/d"})",
        R"({"state_dir":"relative","database":"/d"})", R"({"state_dir":"/s","database":""})"}) {
    const auto orders = from_line(line);
    ASSERT_FALSE(orders.has_value()) << line;
    EXPECT_EQ(orders.error().kind, ErrorKind::corrupt) << line;
  }
  const std::string longer(most_order_bytes, ' ');
  EXPECT_FALSE(from_line(R"({"state_dir":"/s","database":"/d"})" + longer).has_value());
}

TEST(Orders, OfANewerDaemonAreUnderstoodAsFarAsTheyAre) {
  EXPECT_TRUE(from_line(R"({"state_dir":"/s","database":"/d","later":[1]})").has_value());
}

TEST(Orders, NobodyToTellIsNothingToDo) { EXPECT_TRUE(Orders{}.empty()); }

}  // namespace
}  // namespace trainward::orders
