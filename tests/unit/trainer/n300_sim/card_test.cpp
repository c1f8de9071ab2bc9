#include "trainer/n300_sim/card.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainward::n300 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

std::vector<std::string> ids(const Card& card) {
  std::vector<std::string> all;
  for (const CardChip& chip : card.chips) all.push_back(card.boards[chip.board].serial + chip.id);
  return all;
}

// Two boards, of whose chips the mesh takes one column each.
constexpr std::string_view two_boards =
    R"({"batch": 2, "mesh": {"shape": [2, 2], "chips": ["a/L", "b/L", "a/R", "b/R"]}})";

TEST(Card, AloneIsOneBoardOfTwoChips) {
  for (const char* script : {"", "  \n", "{}"}) {
    const auto card = read_card(script, "");
    ASSERT_TRUE(card) << card.error().message();
    EXPECT_THAT(ids(*card), ElementsAre("L", "R"));
    EXPECT_EQ(card->chips[1].dram_bytes, 12 * gib);
  }
  const auto many = read_card(R"({"chips": 32, "dram_bytes": 3200})", R"({"batch": 4})");
  ASSERT_TRUE(many);
  EXPECT_EQ(many->chips.size(), 32U);
  EXPECT_EQ(many->chips[31].dram_bytes, 100U);
  EXPECT_THAT(ids(*read_card(R"({"dead_second_chip": true})", "")), ElementsAre("L"));
}

TEST(Card, HasTheChipsOfTheMeshInItsOrder) {
  const auto card = read_card("", two_boards);
  ASSERT_TRUE(card) << card.error().message();
  EXPECT_THAT(ids(*card), ElementsAre("aL", "bL", "aR", "bR"));
  EXPECT_EQ(card->boards.size(), 2U);
}

TEST(Card, EachBoardHasItsOwnScript) {
  const auto card = read_card(
      R"({"boards": {"b": {"dram_bytes": 200, "base_bytes": 20, "leak_bytes_per_step": 2,
                           "slow_chip": {"chip": "R", "factor": 2}}}})",
      two_boards);
  ASSERT_TRUE(card) << card.error().message();
  EXPECT_EQ(card->chips[0].dram_bytes, 12 * gib);
  EXPECT_EQ(card->chips[1].dram_bytes, 100U);
  EXPECT_EQ(card->chips[3].base_bytes, 10U);
  EXPECT_EQ(card->chips[3].leak_bytes_per_step, 1U);
  EXPECT_EQ(card->chips[1].slowness, 1);
  EXPECT_EQ(card->chips[3].slowness, 2);
  EXPECT_FALSE(card->link);
  const auto linked = read_card(
      R"({"boards": {"a": {"link": {"gb_per_s": 2, "latency_us": 9}}, "b": {"link": {"gb_per_s": 1}}}})",
      two_boards);
  EXPECT_EQ(linked->link, (Link{1, 9}));
  const auto dead = read_card(R"({"boards": {"a": {"dead_second_chip": true}}})", two_boards);
  EXPECT_THAT(ids(*dead), ElementsAre("aL", "bL", "bR"));
}

TEST(Card, WhatIsWrongIsNamed) {
  const auto problem = [](std::string_view simulate, std::string_view plan) {
    const auto card = read_card(simulate, plan);
    return card ? "" : card.error().message();
  };
  EXPECT_THAT(problem("[1]", ""), HasSubstr("TRAINWARD_SIMULATE: is not a JSON object"));
  EXPECT_THAT(problem("{", ""), HasSubstr("TRAINWARD_SIMULATE"));
  EXPECT_THAT(problem("", "{"), HasSubstr("TRAINWARD_PLAN"));
  EXPECT_THAT(problem("", R"({"mesh": {"chips": [1]}})"), HasSubstr("without a board"));
  EXPECT_THAT(problem("", R"({"mesh": {}})"), HasSubstr("names no chips"));
  EXPECT_THAT(problem(R"({"boards": {"a": 1}})", two_boards), HasSubstr("boards.a"));
  EXPECT_THAT(problem(R"({"boards": {"a": {"hung": 1}}})", two_boards), HasSubstr("boards.a.hung"));
  EXPECT_THAT(problem(R"({"boards": {}, "oom": "error_13"})", two_boards), HasSubstr("oom"));
}

}  // namespace
}  // namespace trainward::n300
