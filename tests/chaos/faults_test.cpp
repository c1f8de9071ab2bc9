// The sequence of faults is a function of the seed.

#include "faults.hpp"

#include <gtest/gtest.h>

#include <set>

namespace trainward::chaos {
namespace {

constexpr std::int64_t hour_ms = 3'600'000;

TEST(ChaosFaults, TheSameSeedIsTheSameSequence) {
  EXPECT_EQ(draw(7, hour_ms, all_kinds()), draw(7, hour_ms, all_kinds()));
  EXPECT_NE(draw(7, hour_ms, all_kinds()), draw(8, hour_ms, all_kinds()));
}

TEST(ChaosFaults, AnHourHasEveryKindAndEachEndsBeforeItsTimeIsOver) {
  std::set<Kind> seen;
  for (const Fault& fault : draw(7, hour_ms, all_kinds())) {
    seen.insert(fault.kind);
    EXPECT_LT(fault.at_ms, hour_ms);
    EXPECT_NE(text_of(fault).find(name_of(fault.kind)), std::string::npos);
  }
  EXPECT_EQ(seen.size(), all_kinds().size());
}

TEST(ChaosFaults, OnlyTheKindsThatWereAskedFor) {
  for (const Fault& fault : draw(7, hour_ms, {Kind::pipes})) EXPECT_EQ(fault.kind, Kind::pipes);
  EXPECT_TRUE(draw(7, hour_ms, {}).empty());
}

}  // namespace
}  // namespace trainward::chaos
