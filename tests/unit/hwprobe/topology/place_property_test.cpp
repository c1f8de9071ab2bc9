// Placements on small random hosts, compared with trying everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <tuple>

#include "hwprobe/topology/connectors.hpp"
#include "hwprobe/topology/place.hpp"

namespace trainward::hwprobe {
namespace {

constexpr unsigned seed = 7;
constexpr int rounds = 1500;
constexpr std::size_t most_cells = 6;

struct World {
  Graph graph;
  std::set<std::size_t> bad;  // chips
  Preferences preferences;
  Usable usable = [this](const Graph& /*graph*/, std::size_t chip) { return !bad.contains(chip); };
};

void fill(World& world, std::mt19937& random) {
  const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
  const std::size_t boards = 1 + random() % 4;
  for (std::size_t board = 0; board < boards; ++board) {
    world.graph.boards.push_back({std::string(1, static_cast<char>('a' + board)), "n300", "",
                                  chance(20) ? Verdict::degraded : Verdict::ok});
    const std::string& serial = world.graph.boards.back().serial;
    if (chance(40)) world.preferences.faults[serial] = random() % 4;
    if (chance(10)) world.preferences.taken.insert(serial);
    for (const char* id : {"L", "R"}) {
      if (id[0] == 'R' && chance(20)) continue;
      if (chance(15)) world.bad.insert(world.graph.chips.size());
      world.graph.chips.push_back({board, id, Verdict::ok, 0});
    }
  }
  const int density = 20 + static_cast<int>(random() % 70);
  for (std::size_t a = 0; a < world.graph.chips.size(); ++a) {
    for (std::size_t b = a + 1; b < world.graph.chips.size(); ++b) {
      if (!chance(density)) continue;
      const LinkState states[] = {LinkState::up, LinkState::assumed, LinkState::down};
      world.graph.links.push_back({a, b, "0", "0", states[random() % 3], 0});
    }
  }
}

bool free_chip(const World& world, std::size_t chip) {
  const std::string& board = world.graph.boards[world.graph.chips[chip].board].serial;
  return !world.bad.contains(chip) && !world.preferences.taken.contains(board);
}

bool linked(const Graph& graph, std::size_t a, std::size_t b) {
  return std::ranges::any_of(graph.links, [&](const GraphLink& link) {
    return link.state != LinkState::down && link.from == std::min(a, b) &&
           link.to == std::max(a, b);
  });
}

// boards, faults, degraded boards
using Price = std::tuple<std::size_t, std::int64_t, std::size_t>;

// What a layout costs, or nothing when it is not one.
std::optional<Price> price(const World& world, const std::vector<MeshShape>& shapes,
                           const std::vector<std::size_t>& chips) {
  std::set<std::size_t> used;
  std::set<std::size_t> all_boards;
  std::size_t at = 0;
  for (const MeshShape& shape : shapes) {
    std::set<std::size_t> boards;
    for (std::size_t i = 0; i < shape.chips(); ++i) {
      const std::size_t chip = chips[at + i];
      if (!free_chip(world, chip) || !used.insert(chip).second) return std::nullopt;
      boards.insert(world.graph.chips[chip].board);
      const bool left = i % shape.columns != 0;
      if (left && !linked(world.graph, chip, chips[at + i - 1])) return std::nullopt;
      const bool above = i >= shape.columns;
      if (above && !linked(world.graph, chip, chips[at + i - shape.columns])) return std::nullopt;
    }
    for (const std::size_t board : boards) {
      if (!all_boards.insert(board).second) return std::nullopt;
    }
    at += shape.chips();
  }
  Price out{all_boards.size(), 0, 0};
  for (const std::size_t board : all_boards) {
    const auto faults = world.preferences.faults.find(world.graph.boards[board].serial);
    if (faults != world.preferences.faults.end()) std::get<1>(out) += faults->second;
    if (world.graph.boards[board].verdict != Verdict::ok) ++std::get<2>(out);
  }
  return out;
}

// The lowest price of any layout: every way to put chips on the cells is tried.
std::optional<Price> cheapest(const World& world, const std::vector<MeshShape>& shapes) {
  std::size_t cells = 0;
  for (const MeshShape& shape : shapes) cells += shape.chips();
  std::optional<Price> best;
  std::vector<std::size_t> chips;
  const auto grow = [&](const auto& self) -> void {
    if (chips.size() == cells) {
      const auto now = price(world, shapes, chips);
      if (now && (!best || *now < *best)) best = now;
      return;
    }
    for (std::size_t chip = 0; chip < world.graph.chips.size(); ++chip) {
      if (std::ranges::count(chips, chip) > 0 || !free_chip(world, chip)) continue;
      chips.push_back(chip);
      self(self);
      chips.pop_back();
    }
  };
  grow(grow);
  return best;
}

std::vector<MeshShape> random_shapes(std::mt19937& random) {
  const MeshShape all[] = {{1, 1}, {1, 2}, {2, 1}, {1, 3}, {2, 2}, {1, 4}, {2, 3}, {3, 2}};
  std::vector<MeshShape> shapes;
  std::size_t cells = 0;
  for (std::size_t i = 0; i < 1 + random() % 3; ++i) {
    const MeshShape shape = all[random() % std::size(all)];
    if (cells + shape.chips() > most_cells) continue;
    cells += shape.chips();
    shapes.push_back(shape);
  }
  return shapes;
}

TEST(PlacementProperties, AreTheCheapestOfAll) {
  std::mt19937 random(seed);
  int placed = 0;
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(fmt::format("seed {}, round {}", seed, round));
    World world;
    fill(world, random);
    const std::vector<MeshShape> shapes = random_shapes(random);
    const auto answers = place_all(world.graph, shapes, world.usable, world.preferences);
    ASSERT_EQ(answers.size(), shapes.size());

    std::vector<MeshShape> accepted;
    std::vector<std::size_t> chips;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      accepted.push_back(shapes[i]);
      const bool possible = cheapest(world, accepted).has_value();
      ASSERT_EQ(answers[i].has_value(), possible)
          << to_string(shapes[i]) << (answers[i] ? "" : ": " + answers[i].error().message());
      if (possible) {
        ++placed;
        EXPECT_EQ(answers[i]->shape, shapes[i]);
        ASSERT_EQ(answers[i]->chips.size(), shapes[i].chips());
        chips.insert(chips.end(), answers[i]->chips.begin(), answers[i]->chips.end());
      } else {
        ++refused;
        accepted.pop_back();
        EXPECT_FALSE(answers[i].error().what.empty());
        EXPECT_NE(answers[i].error().kind, ErrorKind::usage);
      }
    }
    if (accepted.empty()) continue;
    const auto got = price(world, accepted, chips);
    ASSERT_TRUE(got) << "it is a layout at all";
    ASSERT_EQ(*got, *cheapest(world, accepted));
  }
  EXPECT_GT(placed, rounds / 4);
  EXPECT_GT(refused, rounds / 4);
}

TEST(PlacementProperties, RepairingTheLinksThatAreNamedIsEnough) {
  std::mt19937 random(seed);
  int repaired = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(fmt::format("seed {}, round {}", seed, round));
    World world;
    fill(world, random);
    world.preferences.taken.clear();
    world.bad.clear();
    const std::vector<MeshShape> shapes = random_shapes(random);
    if (shapes.empty()) continue;
    const auto refused = place(world.graph, shapes.front(), world.usable, world.preferences);
    if (refused || refused.error().what.find("is down") == std::string::npos) continue;
    int named = 0;
    const Graph before = world.graph;
    for (GraphLink& link : world.graph.links) {
      const std::string name = name_with_connectors(before, std::span(&link, 1));
      if (refused.error().what.find(name) == std::string::npos) continue;
      link.state = LinkState::up;
      ++named;
    }
    // And where cables are named that nobody laid, laying them.
    for (std::size_t a = 0; a < world.graph.chips.size(); ++a) {
      for (std::size_t b = a + 1; b < world.graph.chips.size(); ++b) {
        const std::string words =
            fmt::format("no link from {} to {}", world.graph.name(a), world.graph.name(b));
        if (refused.error().what.find(words) == std::string::npos) continue;
        world.graph.links.push_back({a, b, "0", "0", LinkState::up, 0});
      }
    }
    EXPECT_GT(named, 0) << refused.error().what;
    EXPECT_TRUE(place(world.graph, shapes.front(), world.usable, world.preferences))
        << refused.error().what;
    ++repaired;
  }
  EXPECT_GT(repaired, 50);
}

TEST(PlacementProperties, AFewStepsGiveALayoutOrARefusalNeverABadOne) {
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(fmt::format("seed {}, round {}", seed, round));
    World world;
    fill(world, random);
    world.preferences.max_steps = random() % 12;
    const std::vector<MeshShape> shapes = random_shapes(random);
    std::vector<MeshShape> accepted;
    std::vector<std::size_t> chips;
    const auto answers = place_all(world.graph, shapes, world.usable, world.preferences);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i]) {
        EXPECT_FALSE(answers[i].error().what.empty());
        continue;
      }
      accepted.push_back(shapes[i]);
      chips.insert(chips.end(), answers[i]->chips.begin(), answers[i]->chips.end());
    }
    ASSERT_TRUE(price(world, accepted, chips));
  }
}

}  // namespace
}  // namespace trainward::hwprobe
