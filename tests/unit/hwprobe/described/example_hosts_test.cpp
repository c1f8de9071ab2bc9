// The hosts of examples/hosts that meshes of eight and thirty-two chips are placed on.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <random>

#include "hwprobe/described/described.hpp"
#include "hwprobe/draw/board_table.hpp"
#include "hwprobe/draw/drawing.hpp"
#include "hwprobe/health.hpp"
#include "hwprobe/topology/ends.hpp"
#include "hwprobe/topology/place.hpp"

namespace trainward::hwprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string a = "0100014511728a10";
const std::string b = "0100014511728a24";
const std::string c = "0100014511728a37";
const std::string d = "0100014511728a4c";

Report example(const char* name) {
  auto report = look_at_described(std::filesystem::path(SOURCE_FOLDER) / "examples/hosts" / name);
  EXPECT_TRUE(report) << report.error().message();
  return report ? *report : Report{};
}

std::vector<std::string> names(const Graph& graph, const Placement& placement) {
  std::vector<std::string> out;
  for (const std::size_t chip : placement.chips) out.push_back(graph.name(chip));
  return out;
}

int links_up(const Graph& graph, std::size_t one, std::size_t other) {
  return static_cast<int>(std::ranges::count_if(graph.links, [&](const GraphLink& link) {
    return link.state == LinkState::up && link.from == std::min(one, other) &&
           link.to == std::max(one, other);
  }));
}

// Every chip once, and `links` links between every two neighbours.
void expect_mesh(const Graph& graph, const Placement& placement, int links) {
  std::vector<std::size_t> sorted = placement.chips;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
  const auto [rows, columns] = placement.shape;
  ASSERT_EQ(sorted.size(), rows * columns);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if ((i + 1) % columns != 0) {
      EXPECT_EQ(links_up(graph, placement.chips[i], placement.chips[i + 1]), links) << i;
    }
    if (i + columns < sorted.size()) {
      EXPECT_EQ(links_up(graph, placement.chips[i], placement.chips[i + columns]), links) << i;
    }
  }
}

// Takes down the links between two chips, "SERIAL/L".
void take_down(Report& report, const std::string& one, const std::string& other) {
  for (Board& board : report.boards) {
    for (Link& link : board.links) {
      const auto from = parse_end(link.from, board.serial);
      const auto to = parse_end(link.to, board.serial);
      if (to_text({from->board, from->chip, ""}) == one &&
          to_text({to->board, to->chip, ""}) == other) {
        link.up = false;
      }
    }
  }
}

Board& board_of(Report& report, const std::string& serial) {
  return *std::ranges::find(report.boards, serial, &Board::serial);
}

TEST(ExampleT3k, IsHealthyAndPlacesTwoRowsOfFour) {
  const Report report = example("t3k.yaml");
  ASSERT_EQ(report.boards.size(), 4U);
  EXPECT_EQ(health(report), Health::healthy);
  for (const Board& board : report.boards) EXPECT_EQ(board.verdict, Verdict::ok) << board.serial;

  const Graph graph = make_graph(report);
  EXPECT_EQ(graph.links.size(), 20U) << "ten edges of two links";
  const auto placed = place(graph, {2, 4});
  ASSERT_TRUE(placed) << placed.error().message();
  EXPECT_THAT(names(graph, *placed), ElementsAre(a + "/R", a + "/L", c + "/L", c + "/R",  //
                                                 b + "/R", b + "/L", d + "/L", d + "/R"));
  expect_mesh(graph, *placed, 2);
  EXPECT_TRUE(place(graph, {4, 2}));
  EXPECT_TRUE(place(graph, {1, 8})) << "around the corners";
}

TEST(ExampleT3k, TheEdgeOfItsMeshIsARingOfAllEight) {
  const Graph graph = make_graph(example("t3k.yaml"));
  const auto placed = place(graph, {2, 4});
  ASSERT_TRUE(placed);
  std::vector<std::size_t> ring(placed->chips.begin(), placed->chips.begin() + 4);
  ring.insert(ring.end(), placed->chips.rbegin(), placed->chips.rbegin() + 4);
  for (std::size_t i = 0; i < ring.size(); ++i) {
    EXPECT_EQ(links_up(graph, ring[i], ring[(i + 1) % ring.size()]), 2) << i;
  }
}

TEST(ExampleT3k, ARefusalNamesBoardAndConnectorOfACable) {
  Report report = example("t3k.yaml");
  take_down(report, a + "/L", c + "/L");
  const auto refused = place(make_graph(report), {2, 4});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permanent);
  EXPECT_EQ(refused.error().what,
            fmt::format("a mesh of 2x4 cannot be placed: the links from {}/L:6,7 (QSFP 1) to "
                        "{}/L:6,7 (QSFP 1) are down",
                        a, c));
  EXPECT_THAT(draw(make_graph(report), false),
              HasSubstr(fmt::format("    L:6 (QSFP 1) ----x---- {}/L:6 (QSFP 1)\n", c)));

  report = example("t3k.yaml");
  take_down(report, a + "/R", b + "/R");
  EXPECT_THAT(place(make_graph(report), {2, 4}).error().what,
              HasSubstr(a + "/R:6,7 (WARP100 2) to " + b + "/R:6,7 (WARP100 2)"));
}

TEST(ExampleT3k, OneLinkOfACableIsEnough) {
  Report report = example("t3k.yaml");
  auto& links = board_of(report, a).links;
  std::ranges::find(links, "L:6", &Link::from)->up = false;
  EXPECT_TRUE(place(make_graph(report), {2, 4}));
}

TEST(ExampleT3k, ARefusalNamesADeadChip) {
  Report report = example("t3k.yaml");
  Board& board = board_of(report, c);
  board.chips[1].verdict = Verdict::arc_dead;
  board.verdict = Verdict::arc_dead;
  EXPECT_EQ(place(make_graph(report), {2, 4}).error().what,
            "a mesh of 2x4 cannot be placed: board " + c + " is ARC_DEAD (chip R)");
  EXPECT_TRUE(place(make_graph(report), {2, 2}));
}

TEST(ExampleGalaxy, IsHealthyWithoutAnyChipR) {
  const Report report = example("galaxy.yaml");
  ASSERT_EQ(report.boards.size(), 32U);
  EXPECT_EQ(health(report), Health::healthy);
  for (const Board& board : report.boards) EXPECT_EQ(board.verdict, Verdict::ok) << board.serial;
  EXPECT_EQ(make_graph(report).links.size(), 208U) << "52 edges of four links";
  const auto again = report_from_json(to_json(report));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(to_json(*again), to_json(report));
}

TEST(ExampleGalaxy, PlacesEightRowsOfFourAndFourOfEight) {
  const Graph graph = make_graph(example("galaxy.yaml"));
  for (const MeshShape shape : {MeshShape{8, 4}, {4, 8}, {4, 4}, {1, 32}}) {
    const auto began = std::chrono::steady_clock::now();
    const auto placed = place(graph, shape);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    RecordProperty("seconds_" + to_string(shape), fmt::format("{:.3f}", took.count()));
    ASSERT_TRUE(placed) << placed.error().message();
    expect_mesh(graph, *placed, 4);
  }
  const std::string serial = "01000351000000";
  const auto placed = place(graph, {8, 4});
  std::vector<std::string> wanted;
  for (const char* row : {"11 15 25 21", "12 16 26 22", "13 17 27 23", "14 18 28 24",  //
                          "34 38 48 44", "33 37 47 43", "32 36 46 42", "31 35 45 41"}) {
    for (std::size_t i = 0; i < 4; ++i) {
      wanted.push_back(serial + std::string(row).substr(3 * i, 2) + "/L");
    }
  }
  EXPECT_EQ(names(graph, *placed), wanted);
}

// The same host with its chips in another order.
Graph shuffled(Graph graph, std::mt19937& random) {
  std::vector<std::size_t> order(graph.chips.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  for (GraphLink& link : graph.links) {
    const auto [from, to] = std::minmax(order[link.from], order[link.to]);
    link.from = from;
    link.to = to;
  }
  return graph;
}

TEST(ExampleGalaxy, IsPlacedWhateverItsSerialNumbers) {
  constexpr unsigned seed = 11;
  std::mt19937 random(seed);
  const Graph galaxy = make_graph(example("galaxy.yaml"));
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(fmt::format("seed {}, round {}", seed, round));
    Graph graph = shuffled(galaxy, random);
    for (const MeshShape shape : {MeshShape{8, 4}, {4, 8}, {4, 4}}) {
      const auto placed = place(graph, shape);
      ASSERT_TRUE(placed) << placed.error().message();
      expect_mesh(graph, *placed, 4);
    }
    // One cable of four links is cut.
    const GraphLink cut = graph.links[random() % graph.links.size()];
    for (GraphLink& link : graph.links) {
      if (link.from == cut.from && link.to == cut.to) link.state = LinkState::down;
    }
    for (const MeshShape shape : {MeshShape{8, 4}, {4, 8}}) {
      const auto refused = place(graph, shape);
      ASSERT_FALSE(refused);
      EXPECT_THAT(refused.error().what, HasSubstr("cannot be placed: the links from "));
      EXPECT_EQ(refused.error().what.find(';'), std::string::npos) << refused.error().what;
    }
  }
}

TEST(ExampleGalaxy, ARefusalNamesADeadChipAndAConnector) {
  Report report = example("galaxy.yaml");
  const std::string dead = "0100035100000026";
  board_of(report, dead).verdict = Verdict::arc_dead;
  EXPECT_EQ(place(make_graph(report), {8, 4}).error().what,
            "a mesh of 8x4 cannot be placed: board " + dead + " is ARC_DEAD");

  report = example("galaxy.yaml");
  take_down(report, "0100035100000015/L", "0100035100000025/L");
  EXPECT_EQ(place(make_graph(report), {4, 8}).error().what,
            "a mesh of 4x8 cannot be placed: the links from 0100035100000015/L:12,13,14,15 "
            "(linking board 1) to 0100035100000025/L:12,13,14,15 (linking board 1) are down");
}

TEST(ExampleHosts, AFileLikeAnotherChangesOnlyWhatItNames) {
  const Report whole = example("t3k.yaml");
  const Report dead = example("t3k-dead-chip.yaml");
  ASSERT_EQ(dead.boards.size(), whole.boards.size());
  EXPECT_EQ(dead.boards[3].serial, d);
  EXPECT_EQ(dead.boards[3].verdict, Verdict::arc_dead);
  EXPECT_EQ(dead.boards[3].chips[0].verdict, Verdict::ok);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(dead.boards[i].verdict, Verdict::ok);
  for (const char* name : {"t3k-slow-chip.yaml", "t3k-flipped-bit.yaml"}) {
    const Report same = example(name);
    EXPECT_EQ(health(same), Health::healthy) << name;
    EXPECT_EQ(std::ranges::count_if(same.boards,
                                    [](const Board& board) { return !board.simulate.empty(); }),
              1);
  }
  const Graph cut = make_graph(example("t3k-dead-link.yaml"));
  const auto refused = place(cut, {2, 4});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("QSFP 1"));
  EXPECT_EQ(cut.links.size(), make_graph(whole).links.size()) << "one is down, none is added";
}

}  // namespace
}  // namespace trainward::hwprobe
