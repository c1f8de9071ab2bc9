#include "supervisor/daemon/boards/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace trainward::daemon {
namespace {

using hwprobe::Report;
using hwprobe::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;

hwprobe::Board n300(const std::string& serial) {
  hwprobe::Board board;
  board.serial = serial;
  board.type = "n300";
  board.bus_id = "0000:" + serial + ":00.0";
  board.verdict = Verdict::ok;
  board.chips = {{"L", Verdict::ok, "", 50, {}}, {"R", Verdict::unknown, "", 0, {}}};
  return board;
}

// L to L and R to R.
void cable(Report& report, std::size_t a, std::size_t b) {
  auto& from = report.boards.at(a);
  const std::string& to = report.boards.at(b).serial;
  from.links.push_back({"L:14", to + "/L:15", true, 0});
  from.links.push_back({"R:6", to + "/R:7", true, 0});
  from.links.push_back({"L:8", "R:0", true, 0});
}

// a ═ b ═ c ═ d
Report row_of_four() {
  Report report{"described", {n300("a"), n300("b"), n300("c"), n300("d")}, {}};
  cable(report, 0, 1);
  cable(report, 1, 2);
  cable(report, 2, 3);
  return report;
}

Report gpus(std::size_t number) {
  Report report{"nvidia-smi", {}, {}};
  for (std::size_t i = 0; i < number; ++i) {
    hwprobe::Board board;
    board.serial = "GPU-" + std::to_string(i);
    board.verdict = Verdict::ok;
    board.chips = {{"GPU", Verdict::ok, "nvidia-smi", 40, {}}};
    report.boards.push_back(std::move(board));
  }
  return report;
}

TEST(PlaceMesh, BoardsAreInTheOrderOfTheirFirstChips) {
  const auto place = place_mesh(row_of_four(), {{2, 2}, {}}, {});
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_THAT(place->boards, ElementsAre("a", "b"));
  EXPECT_THAT(place->chips, ElementsAre("a/L", "a/R", "b/L", "b/R"));
  EXPECT_EQ(place->mesh, (config::Mesh{2, 2}));
}

TEST(PlaceMesh, ACleanerBoardIsPreferredAndOneInQuarantineNotUsed) {
  BoardPasts pasts{{"a", {"", false, 2}}, {"d", {"", false, 1}}};
  EXPECT_THAT(place_mesh(row_of_four(), {{2, 2}, {}}, pasts)->boards, ElementsAre("b", "c"));
  pasts["b"].barred = "in quarantine";
  EXPECT_THAT(place_mesh(row_of_four(), {{2, 2}, {}}, pasts)->boards, ElementsAre("c", "d"));
  pasts["d"].barred = "in quarantine";
  const auto none = place_mesh(row_of_four(), {{2, 2}, {}}, pasts);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::permanent);
  EXPECT_THAT(none.error().what, HasSubstr("board b is in quarantine"));
}

TEST(PlaceMesh, RoomIsLeftForThoseThatWait) {
  const BoardPasts pasts{{"a", {"", false, 2}}, {"d", {"", false, 1}}};
  const auto place = place_mesh(row_of_four(), {{2, 2}, {{2, 2}}}, pasts);
  EXPECT_THAT(place->boards, ElementsAre("a", "b")) << "the middle would leave no pair";
  EXPECT_TRUE(place_mesh(row_of_four(), {{2, 4}, {{2, 2}}}, pasts)) << "not at one's own expense";
  const std::vector<config::Mesh> crowd(40, {1, 1});
  EXPECT_TRUE(place_mesh(row_of_four(), {{2, 2}, crowd}, pasts));
}

TEST(PlaceMesh, WhatIsMissingIsNamed) {
  Report report = row_of_four();
  report.boards[1].links.erase(report.boards[1].links.begin(), report.boards[1].links.begin() + 2);
  report.boards[0].links[0].up = false;
  report.boards[2].links[1].up = false;
  const auto refused = place_mesh(report, {{2, 2}, {}}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
  EXPECT_THAT(refused.error().what,
              HasSubstr("the link from a/L:14 (WARP100 1) to b/L:15 (WARP100 1) is down"));
}

TEST(PlaceMesh, WhatOthersHoldIsWaitedFor) {
  Report report = row_of_four();
  const BoardPasts pasts{{"a", {"", true, 0}}, {"b", {"", true, 0}}};
  report.boards[2].verdict = Verdict::busy;
  const auto refused = place_mesh(report, {{2, 2}, {}}, pasts);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::transient) << refused.error().what;
  EXPECT_THAT(refused.error().what, HasSubstr("in use"));
}

TEST(PlaceMesh, OnesOwnBoardsCountAsFree) {
  Report report = row_of_four();
  BoardPasts pasts{{"a", {"", true, 0, true}}, {"b", {"", true, 0, true}}};
  report.boards[0].verdict = Verdict::busy;
  EXPECT_TRUE(place_mesh(report, {{2, 4}, {}}, pasts));
  pasts["b"].ours = false;
  EXPECT_FALSE(place_mesh(report, {{2, 4}, {}}, pasts));
}

TEST(PlaceMesh, TheLinksBetweenNeighboursAreNamed) {
  Report report = row_of_four();
  report.boards[0].links.push_back({"L:15", "b/L:14", false, 0});
  const auto place = place_mesh(report, {{2, 2}, {}}, {});
  ASSERT_TRUE(place) << place.error().message();
  EXPECT_THAT(place->pairs, UnorderedElementsAre(StartsWith("a/L:14 (WARP100 1) to b/L:15"),
                                                 StartsWith("a/R:6 (WARP100 2) to b/R:7"),
                                                 "a/L:8 to a/R:0 (on-board trace)",
                                                 "b/L:8 to b/R:0 (on-board trace)"));
}

TEST(PlaceMesh, GpusOfOneHostReachEachOther) {
  EXPECT_THAT(place_mesh(gpus(8), {{1, 4}, {}}, {})->boards, SizeIs(4));
  EXPECT_THAT(place_mesh(gpus(2), {{1, 2}, {}}, {})->chips, ElementsAre("GPU-0/GPU", "GPU-1/GPU"));
  EXPECT_FALSE(place_mesh(gpus(3), {{1, 4}, {}}, {}));
  Report others = gpus(2);
  others.source = "elsewhere";
  EXPECT_FALSE(place_mesh(others, {{1, 2}, {}}, {})) << "nobody says that these are linked";
}

TEST(PlaceMesh, NobodyGetsWhatIsBarredTakenOrBroken) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    Report report = row_of_four();
    BoardPasts pasts;
    std::set<std::string> bad;
    for (hwprobe::Board& board : report.boards) {
      BoardPast& past = pasts[board.serial];
      past.barred = random() % 6 == 0 ? "in quarantine" : "";
      past.taken = random() % 6 == 0;
      past.stains = static_cast<std::int64_t>(random() % 3);
      if (random() % 6 == 0) board.verdict = static_cast<Verdict>(random() % 15);
      const bool usable = hwprobe::usable(board.verdict);
      if (!past.barred.empty() || past.taken || !usable) bad.insert(board.serial);
    }
    const config::Mesh mesh{1 + static_cast<std::int64_t>(random() % 2),
                            1 + static_cast<std::int64_t>(random() % 4)};
    const auto place = place_mesh(report, {mesh, {{2, 2}}}, pasts);
    if (!place) {
      EXPECT_FALSE(place.error().what.empty());
      continue;
    }
    EXPECT_EQ(place->chips.size(), static_cast<std::size_t>(mesh.rows * mesh.columns));
    for (const std::string& serial : place->boards) EXPECT_FALSE(bad.contains(serial)) << serial;
  }
}

}  // namespace
}  // namespace trainward::daemon
