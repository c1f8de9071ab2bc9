#include "hwprobe/topology/place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "sample.hpp"

namespace trainward::hwprobe {
namespace {

using sample::cable;
using sample::n300;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const Graph& graph, const Result<Placement>& placement) {
  std::vector<std::string> out;
  if (!placement) return {placement.error().message()};
  for (const std::size_t chip : placement->chips) out.push_back(graph.name(chip));
  return out;
}

TEST(Places, OneChipIsAnyChip) {
  const Graph graph = make_graph(sample::two_by_four());
  EXPECT_THAT(names(graph, place(graph, {1, 1})), ElementsAre("a/L"));
}

TEST(Places, APairIsOneBoardRatherThanTwo) {
  const Graph graph = make_graph(sample::two_by_four());
  Preferences preferences;
  preferences.faults = {{"a", 5}, {"b", 1}, {"c", 1}, {"d", 2}};
  EXPECT_THAT(names(graph, place(graph, {1, 2}, healthy, preferences)), ElementsAre("b/L", "b/R"));
}

TEST(Places, FewerFaultsFirstThenBoardsThatAreNotDegraded) {
  Report report = sample::two_by_four();
  report.boards[0].verdict = Verdict::degraded;
  const Graph graph = make_graph(report);
  EXPECT_THAT(names(graph, place(graph, {1, 2})), ElementsAre("b/L", "b/R"));
  Preferences preferences;
  preferences.faults = {{"b", 1}, {"c", 1}, {"d", 1}};
  EXPECT_THAT(names(graph, place(graph, {1, 2}, healthy, preferences)), ElementsAre("a/L", "a/R"));
}

TEST(Places, ASquareAndTheWholeHost) {
  const Graph graph = make_graph(sample::two_by_four());
  EXPECT_THAT(names(graph, place(graph, {2, 2})), ElementsAre("a/L", "a/R", "b/L", "b/R"));
  EXPECT_THAT(names(graph, place(graph, {2, 4})),
              ElementsAre("a/L", "b/L", "c/L", "d/L", "a/R", "b/R", "c/R", "d/R"));
  EXPECT_EQ(place(graph, {4, 2})->boards, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(Places, TwoSquaresServeTwoPrograms) {
  const Graph graph = make_graph(sample::two_by_four());
  Preferences preferences;
  // Alone the first would take b and c, and leave two boards without a link.
  preferences.faults = {{"a", 1}, {"d", 1}};
  EXPECT_THAT(place(graph, {2, 2}, healthy, preferences)->boards, ElementsAre(1, 2));
  const std::vector<MeshShape> requests{{2, 2}, {2, 2}};
  const auto both = place_all(graph, requests, healthy, preferences);
  EXPECT_THAT(both[0]->boards, ElementsAre(0, 1));
  EXPECT_THAT(both[1]->boards, ElementsAre(2, 3));
}

TEST(Places, ARequestTooManyIsRefusedAndTheOthersStay) {
  const Graph graph = make_graph(sample::two_by_four());
  const std::vector<MeshShape> requests{{2, 2}, {2, 4}, {1, 2}, {1, 1}, {1, 1}};
  const auto answers = place_all(graph, requests);
  EXPECT_TRUE(answers[0]);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().kind, ErrorKind::transient);
  EXPECT_THAT(answers[1].error().what, HasSubstr("board a is in use"));
  EXPECT_TRUE(answers[2]);
  EXPECT_TRUE(answers[3]);
  ASSERT_FALSE(answers[4]) << "a board is one program's, even where a chip of it is free";
  EXPECT_EQ(answers[4].error().kind, ErrorKind::transient);
}

TEST(Places, BoardsThatAreTakenAreLeftAlone) {
  const Graph graph = make_graph(sample::two_by_four());
  Preferences preferences;
  preferences.taken = {"a", "c"};
  EXPECT_THAT(names(graph, place(graph, {1, 2}, healthy, preferences)), ElementsAre("b/L", "b/R"));
  const auto refused = place(graph, {2, 2}, healthy, preferences);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::transient);
  EXPECT_EQ(refused.error().what, "a mesh of 2x2 cannot be placed: board c is in use");
}

TEST(Places, ARefusalNamesTheLinksThatAreDown) {
  Report report;
  report.boards = {n300("a"), n300("b")};
  report.boards[0].links.push_back(cable("a/L", "b/L"));
  report.boards[0].links.push_back(cable("a/R", "b/R", false));
  const Graph graph = make_graph(report);
  const auto refused = place(graph, {2, 2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
  EXPECT_EQ(refused.error().what,
            "a mesh of 2x2 cannot be placed: the link from a/R:0 to b/R:1 is down");
  EXPECT_TRUE(place(graph, {1, 4})) << "around the corner";
}

TEST(Places, ARefusalNamesLinksThatWereNeverThere) {
  Report report;
  report.boards = {n300("a"), n300("b")};
  const Graph graph = make_graph(report);
  EXPECT_EQ(place(graph, {1, 4}).error().what,
            "a mesh of 1x4 cannot be placed: no link from a/R to b/L");
  EXPECT_EQ(place(graph, {2, 2}).error().what,
            "a mesh of 2x2 cannot be placed: no link from a/L to b/L; no link from a/R to b/R");
}

TEST(Places, ARefusalNamesBadBoardsAndChips) {
  Report report;
  report.boards = {n300("a"), n300("b")};
  report.boards[0].verdict = Verdict::remote_lost;
  report.boards[1].chips[1].verdict = Verdict::hot;
  const Graph graph = make_graph(report);
  EXPECT_EQ(place(graph, {1, 2}).error().what, "a mesh of 1x2 cannot be placed: chip b/R is HOT");
  EXPECT_TRUE(place(graph, {1, 1}));
  report.boards[1].verdict = Verdict::off_bus;
  const auto none = place(make_graph(report), {1, 1});
  EXPECT_EQ(none.error().what, "a mesh of 1x1 cannot be placed: board a is REMOTE_LOST");
  EXPECT_EQ(none.error().kind, ErrorKind::permanent);
}

TEST(Places, TheCallerMayForbidChips) {
  const Graph graph = make_graph(sample::two_by_four());
  const Usable only_d = [](const Graph& of, std::size_t chip) {
    return of.name(chip).starts_with("d/");
  };
  EXPECT_THAT(names(graph, place(graph, {1, 2}, only_d)), ElementsAre("d/L", "d/R"));
  EXPECT_THAT(place(graph, {2, 2}, only_d).error().what, HasSubstr("chip c/L is not to be used"));
}

TEST(Places, ImpossibleShapesAreRefused) {
  const Graph graph = make_graph(sample::two_by_four());
  constexpr std::size_t huge = SIZE_MAX / 2 + 1;  // times two it is nothing
  for (const MeshShape shape : {MeshShape{0, 1}, {1, 0}, {33, 1}, {6, 6}, {huge, 2}, {2, huge}}) {
    const auto refused = place(graph, shape);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  }
  EXPECT_EQ(place(graph, {3, 3}).error().what, "a mesh of 3x3 needs 9 chips, the host has 8");
  EXPECT_FALSE(place(make_graph({}), {1, 1}));
  const std::vector<MeshShape> many(max_requests + 1, MeshShape{1, 1});
  EXPECT_EQ(place_all(graph, many).back().error().kind, ErrorKind::usage);
}

// A host of 32 chips, each a board: a grid of 4 rows and 8 columns whose rows and columns are
// rings.
Report galaxy() {
  Report report;
  for (int i = 0; i < 32; ++i) {
    Board board;
    board.serial = fmt::format("chip{:02}", i);
    board.verdict = Verdict::ok;
    board.chips = {{"L", Verdict::ok, "test", 0, {}}};
    report.boards.push_back(std::move(board));
  }
  for (int i = 0; i < 32; ++i) {
    const int right = i / 8 * 8 + (i + 1) % 8;
    const int below = (i + 8) % 32;
    auto& links = report.boards[static_cast<std::size_t>(i)].links;
    links.push_back({"L:0", fmt::format("chip{:02}/L:1", right), true, 0});
    links.push_back({"L:2", fmt::format("chip{:02}/L:3", below), true, 0});
  }
  return report;
}

TEST(Places, ThirtyTwoChipsTakeBoundedTime) {
  const auto began = std::chrono::steady_clock::now();
  Report report = galaxy();
  EXPECT_TRUE(place(make_graph(report), {4, 8}));
  report.boards[9].verdict = Verdict::arc_dead;
  const Graph graph = make_graph(report);
  EXPECT_EQ(place(graph, {4, 8}).error().what,
            "a mesh of 4x8 cannot be placed: board chip09 is ARC_DEAD");
  EXPECT_TRUE(place(graph, {4, 7}));
  const std::vector<MeshShape> many(7, MeshShape{2, 2});
  for (const auto& placement : place_all(graph, many)) EXPECT_TRUE(placement);

  // Everything is linked to everything, and every board has its past: nothing can be left out.
  Report full = galaxy();
  Preferences preferences;
  for (std::size_t i = 0; i < 32; ++i) {
    preferences.faults[full.boards[i].serial] = static_cast<std::int64_t>(i * 7 % 32);
    full.boards[i].links.clear();
    for (std::size_t j = 0; j < i; ++j) {
      full.boards[i].links.push_back({"L", fmt::format("chip{:02}/L", j), true, 0});
    }
  }
  EXPECT_TRUE(place(make_graph(full), {4, 7}, healthy, preferences));
  // Nothing is linked to anything.
  for (Board& board : full.boards) board.links.clear();
  EXPECT_FALSE(place(make_graph(full), {4, 8}));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  EXPECT_LT(took.count(), 20);  // also under a sanitizer on a busy machine
}

}  // namespace
}  // namespace trainward::hwprobe
