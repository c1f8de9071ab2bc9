#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "common/base/random.hpp"
#include "known.hpp"
#include "trainer/mesh/all_reduce.hpp"
#include "trainer/mesh/ring_order.hpp"

namespace trainward::mesh {
namespace {

struct Case {
  Mesh mesh;
  Fabric fabric;
  std::int64_t bytes;
};

// Meshes of up to 64 x 64 on every fabric, from no bytes to all that a number holds.
Case draw(SplitMix64& random) {
  Case drawn;
  drawn.mesh.rows = static_cast<std::int64_t>(1 + random.below(64));
  drawn.mesh.columns = static_cast<std::int64_t>(1 + random.below(64));
  const auto which = random.below(fabrics.size() + 1);
  drawn.fabric = which < fabrics.size()
                     ? fabrics[which]
                     : network(1e6 + static_cast<double>(random.below(1'000'000'000)),
                               static_cast<double>(random.below(1000)) * 1e-6);
  drawn.bytes = static_cast<std::int64_t>(random.next() >> (1 + random.below(63)));
  return drawn;
}

std::vector<AllReduceCost> alternatives(const Case& drawn) {
  const auto& [mesh, fabric, bytes] = drawn;
  std::vector<AllReduceCost> all{rows_then_columns(mesh, fabric, bytes)};
  if (!fabric.switched) all.push_back(line(mesh.devices(), fabric, bytes));
  if (fabric.switched || has_ring(mesh)) all.push_back(ring(mesh.devices(), fabric, bytes));
  return all;
}

TEST(Choice, IsNeverDearerThanAnAlternative) {
  SplitMix64 random(11);
  for (int i = 0; i < 20'000; ++i) {
    const Case drawn = draw(random);
    const AllReduceCost chosen = choose(drawn.mesh, drawn.fabric, drawn.bytes).cost;
    ASSERT_TRUE(std::isfinite(chosen.seconds) && chosen.seconds >= 0);
    ASSERT_TRUE(std::isfinite(chosen.link_bytes) && chosen.link_bytes >= 0);
    // Columns before rows cost the same but for rounding, or more.
    const Mesh turned = transposed(drawn.mesh);
    ASSERT_LE(chosen.seconds,
              rows_then_columns(turned, drawn.fabric, drawn.bytes).seconds * (1 + 1e-12));
    for (const AllReduceCost& other : alternatives(drawn)) {
      ASSERT_LE(chosen.seconds, other.seconds) << drawn.mesh.rows << " x " << drawn.mesh.columns
                                               << " " << drawn.fabric.name << " " << drawn.bytes;
    }
  }
}

TEST(Choice, CostGrowsWithTheBytes) {
  SplitMix64 random(12);
  for (int i = 0; i < 20'000; ++i) {
    const Case drawn = draw(random);
    const std::int64_t fewer = drawn.bytes / static_cast<std::int64_t>(1 + random.below(9));
    ASSERT_LE(choose(drawn.mesh, drawn.fabric, fewer).cost.seconds,
              choose(drawn.mesh, drawn.fabric, drawn.bytes).cost.seconds);
  }
}

TEST(Choice, OneChipCostsNothing) {
  for (const Fabric& fabric : fabrics) {
    for (const std::int64_t bytes : {std::int64_t{0}, huge}) {
      const AllReduceChoice choice = choose({1, 1}, fabric, bytes);
      EXPECT_EQ(choice.algorithm, Algorithm::single);
      EXPECT_EQ(choice.cost.seconds, 0);
      EXPECT_EQ(choice.cost.link_bytes, 0);
    }
  }
}

TEST(Choice, NoBytesAndHugeOnesAreNumbers) {
  for (const Fabric& fabric : fabrics) {
    EXPECT_GT(choose({2, 4}, fabric, 0).cost.seconds, 0) << "there is latency";
    EXPECT_EQ(choose({2, 4}, fabric, -1).cost.seconds, choose({2, 4}, fabric, 0).cost.seconds);
    EXPECT_TRUE(std::isfinite(choose({1024, 1024}, fabric, huge).cost.seconds));
  }
}

TEST(Choice, OnTheMachinesThemselves) {
  const auto algorithm = [](Machine machine, const Mesh& mesh, std::int64_t bytes) {
    return choose(mesh, fabric_of(machine), bytes).algorithm;
  };
  EXPECT_EQ(algorithm(Machine::n300, {1, 2}, gradients), Algorithm::line);
  EXPECT_EQ(algorithm(Machine::t3k, {2, 4}, gradients), Algorithm::ring);
  EXPECT_EQ(algorithm(Machine::t3k, {1, 8}, gradients), Algorithm::line);
  EXPECT_EQ(algorithm(Machine::galaxy, {4, 8}, gradients), Algorithm::ring);
  // Little data: fewer hops in a row count more than rates.
  EXPECT_EQ(algorithm(Machine::galaxy, {4, 8}, 4096), Algorithm::rows_and_columns);
  EXPECT_EQ(algorithm(Machine::galaxy, {3, 5}, gradients), Algorithm::rows_and_columns);
}

TEST(Choice, InWords) {
  EXPECT_EQ(to_string(choose({2, 4}, fabric_of(Machine::t3k), 1'400'000'000)),
            "ring: 133 ms, 2.28 GiB through the narrowest link (measured)");
  EXPECT_EQ(to_string(choose({1, 1}, fabric_of(Machine::t3k), 1)), "single: nothing to sum");
  EXPECT_EQ(to_string(Algorithm::rows_and_columns), "rows and columns");
}

}  // namespace
}  // namespace trainward::mesh
