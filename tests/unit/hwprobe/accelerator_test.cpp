// Two kinds of accelerators on one host: whose looks are whose, and one report of both.
#include "hwprobe/accelerators/accelerator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace trainward::hwprobe {
namespace {

// Finds the boards it is told of.
Accelerator toy(std::string prefix, std::vector<std::string> boards) {
  Accelerator made;
  made.name = prefix.empty() ? "first" : prefix;
  made.prefix = prefix;
  made.look = [=](const LookOptions&, Processes&) {
    std::vector<BoardLook> looks;
    for (const std::string& board : boards) looks.push_back({prefix + board, {}});
    return looks;
  };
  made.judge = [=](const std::vector<BoardLook>& looks, const std::string&) -> Result<Report> {
    Report report;
    for (const BoardLook& look : looks) {
      Board board;
      board.serial = look.board;
      report.boards.push_back(board);
    }
    if (looks.empty()) report.evidence.push_back({"no board of " + made.name, ""});
    return report;
  };
  return made;
}

std::vector<std::string> serials(const Report& report) {
  std::vector<std::string> all;
  for (const Board& board : report.boards) all.push_back(board.serial);
  return all;
}

Result<Report> look_and_judge(const std::vector<Accelerator>& all) {
  Processes processes;
  return judge_looks(all, look_at_host(all, {}, processes), "test");
}

TEST(Accelerators, EachJudgesItsOwnLooks) {
  const auto report = look_and_judge({toy("", {"0000:c1:00.0"}), toy("toy:", {"0", "1"})});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->source, "test");
  EXPECT_EQ(serials(*report), (std::vector<std::string>{"0000:c1:00.0", "toy:0", "toy:1"}));
  EXPECT_TRUE(report->evidence.empty());
}

TEST(Accelerators, WhereOneHasBoardsNobodyMissesThoseOfTheOther) {
  const auto some = look_and_judge({toy("", {}), toy("toy:", {"0"})});
  ASSERT_TRUE(some);
  EXPECT_TRUE(some->evidence.empty());
  const auto none = look_and_judge({toy("", {}), toy("toy:", {})});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->evidence.size(), 2U);
}

TEST(Accelerators, OneThatCannotTellIsAnErrorOnlyWhereThereIsNoBoard) {
  Accelerator blind = toy("", {});
  blind.judge = [](const std::vector<BoardLook>&, const std::string&) -> Result<Report> {
    return fail(ErrorKind::permanent, "cannot tell");
  };
  EXPECT_TRUE(look_and_judge({blind, toy("toy:", {"0"})}));
  const auto none = look_and_judge({blind, toy("toy:", {})});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().what, "cannot tell");
}

TEST(Accelerators, ASamplesBoardIsAPciAddress) {
  EXPECT_TRUE(samplers({}, "/", {"0000:c1:00.0"}));
  for (const char* name : {"", "../x", ".", "c1/0"})
    EXPECT_FALSE(samplers({}, "/", {name})) << name;
}

}  // namespace
}  // namespace trainward::hwprobe
