#include "common/protocol/protocol.hpp"

#include <gtest/gtest.h>

#include <random>

namespace trainward {
namespace {

TEST(Protocol, RoundTrip) {
  const Message message{{"STEP", "12"}, {"LOSS", "2.5"}, {"STATUS", "two\nlines"}};
  const Message again = parse_message(encode(message));
  EXPECT_EQ(find_int(again, "STEP"), 12);
  EXPECT_EQ(find_number(again, "LOSS"), 2.5);
  EXPECT_EQ(find(again, "STATUS"), "two lines");
  EXPECT_FALSE(find(again, "PHASE").has_value());
}

TEST(Protocol, WhatIsNoNumberIsNone) {
  const Message message = parse_message("STEP=12x\nLOSS=\nTOKENS=99999999999999999999\nOK=-3");
  EXPECT_FALSE(find_int(message, "STEP").has_value());
  EXPECT_FALSE(find_number(message, "LOSS").has_value());
  EXPECT_FALSE(find_int(message, "TOKENS").has_value());
  EXPECT_EQ(find_int(message, "OK"), -3);
}

TEST(Protocol, GarbageIsBoundedAndHarmless) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes(random() % 20'000, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const Message message = parse_message(bytes);
    EXPECT_LE(message.size(), 64U);
    for (const auto& [key, value] : message) EXPECT_LE(value.size(), 4096U);
  }
  EXPECT_TRUE(parse_message("lower=1\n=2\nNOEQUALS\n1BAD=3").empty());
}

}  // namespace
}  // namespace trainward
