// What is news when several sources, and several daemons, tell of the same attempt.
#include <gmock/gmock.h>

#include "supervisor/evidence/foreign/terms/foreign_report.hpp"
#include "words.hpp"

namespace trainward::foreign {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

core::StepDone step(std::int64_t number) { return {number, 1, 0, 0, 0}; }

TEST(Progress, AStepCountsOnceWhoeverTellsOfIt) {
  Progress progress(0);
  EXPECT_THAT(words(progress.news({step(1), step(2)})), ElementsAre("step 1 1 0", "step 2 1 0"));
  EXPECT_THAT(progress.news({step(2)}), IsEmpty());
  EXPECT_THAT(words(progress.news({step(1), step(5)})), ElementsAre("step 5 1 0"));
  EXPECT_EQ(progress.seen(), 5);
}

TEST(Progress, APhaseIsNewsWhenItChanges) {
  Progress progress(0);
  const core::PhaseEntered train{"train"};
  EXPECT_THAT(words(progress.news({core::PhaseEntered{"load"}, train, step(1), train, step(2)})),
              ElementsAre("phase load", "phase train", "step 1 1 0", "step 2 1 0"));
  EXPECT_THAT(words(progress.news({core::PhaseEntered{"save"}, train})),
              ElementsAre("phase save", "phase train"));
}

TEST(Progress, ANextDaemonGoesOnBehindTheLastStepThatCounted) {
  Progress progress(2);
  EXPECT_THAT(progress.news({core::PhaseEntered{"load"}, step(1), core::Alive{}}), IsEmpty());
  EXPECT_THAT(words(progress.news({step(2), core::PhaseEntered{"save"}, step(3)})),
              ElementsAre("phase save", "step 3 1 0"));
  Progress silent(2);
  silent.caught_up();
  EXPECT_THAT(words(silent.news({core::PhaseEntered{"save"}})), ElementsAre("phase save"));
}

}  // namespace
}  // namespace trainward::foreign
