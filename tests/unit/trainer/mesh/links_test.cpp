#include "trainer/mesh/links.hpp"

#include <gmock/gmock.h>

namespace trainward::mesh {
namespace {

TEST(Links, TheRowsAreInTheOrderOfTheMachines) {
  EXPECT_EQ(fabric_of(Machine::n300).name, "n300");
  EXPECT_EQ(fabric_of(Machine::t3k).name, "t3k");
  EXPECT_EQ(fabric_of(Machine::galaxy).name, "galaxy");
}

TEST(Links, NoRateIsAboveWhatTheUsableLinksCarry) {
  for (const Fabric& fabric : fabrics) {
    SCOPED_TRACE(fabric.name);
    EXPECT_LT(fabric.reserved, fabric.links_an_edge);
    EXPECT_GT(fabric.pair.bytes_per_second, 0);
    EXPECT_LE(fabric.pair.bytes_per_second, ceiling(fabric));
    EXPECT_LE(fabric.line.bytes_per_second, ceiling(fabric));
    EXPECT_LE(fabric.ring.bytes_per_second, 2 * ceiling(fabric));
  }
  EXPECT_DOUBLE_EQ(ceiling(fabric_of(Machine::t3k)), 12e9);
  EXPECT_DOUBLE_EQ(ceiling(fabric_of(Machine::galaxy)), 48e9);
  EXPECT_EQ(ceiling(network(1e9, 0)), 0);
}

TEST(Links, OnlyTheT3kHasBeenMeasured) {
  for (const Fabric& fabric : fabrics) {
    const bool measured = fabric.name == "t3k";
    for (const Rate& rate : {fabric.pair, fabric.line, fabric.ring}) {
      EXPECT_EQ(rate.source == Source::measured, measured) << fabric.name;
    }
  }
  EXPECT_EQ(fabric_of(Machine::galaxy).ring.source, Source::computed);
  EXPECT_EQ(network(1e9, 0).ring.source, Source::given);
}

TEST(Links, ANetworkTakesNothingBelowZero) {
  EXPECT_EQ(network(-1, -1).ring.bytes_per_second, 0);
  EXPECT_EQ(network(-1, -1).latency.line_hop, 0);
}

TEST(Links, EverySourceHasAWord) {
  EXPECT_EQ(to_string(Source::measured), "measured");
  EXPECT_EQ(to_string(Source::transferred), "transferred");
  EXPECT_EQ(to_string(Source::computed), "computed");
  EXPECT_EQ(to_string(Source::given), "given");
}

}  // namespace
}  // namespace trainward::mesh
