// The sequence of faults is a function of the seed.

#include "faults.hpp"

#include <gtest/gtest.h>

#include <set>

#include "processes.hpp"

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

TEST(ChaosProcesses, AHelperThatHasNoNameYetIsNoSecondWorker) {
  const Process shim{10, 1, 'S', std::string(names::shim), "a"};
  const Process worker{11, 10, 'S', std::string(names::worker), "a"};
  const Process forked{12, 11, 'T', std::string(names::worker), "a"};
  const Process copy{13, 10, 'S', std::string(names::worker), "a"};
  EXPECT_EQ(workers({shim, worker, forked}).size(), 1U);
  EXPECT_EQ(workers({shim, worker, forked, copy}).size(), 2U);
}

TEST(ChaosFaults, OnlyTheKindsThatWereAskedFor) {
  for (const Fault& fault : draw(7, hour_ms, {Kind::pipes})) EXPECT_EQ(fault.kind, Kind::pipes);
  EXPECT_TRUE(draw(7, hour_ms, {}).empty());
}

}  // namespace
}  // namespace trainward::chaos
