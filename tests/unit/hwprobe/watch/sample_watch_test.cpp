// What a row of samples says against a board, and what it must not say.
#include "hwprobe/watch/sample_watch.hpp"

#include <gmock/gmock.h>

#include <random>

namespace trainward::hwprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SampleWatchTest : public testing::Test {
 protected:
  static Sample healthy() {
    Sample sample;
    sample.board = "b";
    sample.temperature_c = 57;
    sample.limit_c = 75;
    sample.power_w = 60;
    sample.power_limit_w = 100;
    sample.clock_mhz = 1000;
    return sample;
  }
  // Ten seconds after the one before.
  std::vector<SampleFinding> take(const Sample& sample) {
    now_ms_ += 10'000;
    return watch_.take(sample, now_ms_);
  }
  static std::vector<Sign> signs(const std::vector<SampleFinding>& findings) {
    std::vector<Sign> out;
    for (const SampleFinding& finding : findings) out.push_back(finding.sign);
    return out;
  }

  SampleWatch watch_;
  std::int64_t now_ms_ = 0;
};

TEST_F(SampleWatchTest, HeatIsToldOnceAgainAfterTenMinutesAndWhenItIsOver) {
  EXPECT_THAT(take(healthy()), IsEmpty());
  Sample hot = healthy();
  hot.temperature_c = 75;
  const auto begun = take(hot);
  ASSERT_EQ(begun.size(), 1U);
  EXPECT_EQ(begun[0].text, "at 75 °C, its limit is 75 °C");
  EXPECT_FALSE(begun[0].over);
  for (int i = 0; i < 59; ++i) EXPECT_THAT(take(hot), IsEmpty());
  const auto again = take(hot);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_THAT(again[0].text, HasSubstr(", for 10 min"));
  hot.temperature_c = 74;  // not for one degree
  EXPECT_THAT(take(hot), IsEmpty());
  const auto over = take(healthy());
  ASSERT_EQ(over.size(), 1U);
  EXPECT_TRUE(over[0].over);
  EXPECT_THAT(over[0].text, HasSubstr("below its limit of 75 °C again, at 57 °C, after 10 min"));
}

TEST_F(SampleWatchTest, ALimitThatIsNotNamedIsTheUsualOne) {
  Sample hot = healthy();
  hot.limit_c.reset();
  hot.temperature_c = 74.9;
  EXPECT_THAT(take(hot), IsEmpty());
  hot.temperature_c = 75;
  EXPECT_THAT(signs(take(hot)), ElementsAre(Sign::hot));
}

TEST_F(SampleWatchTest, ASlowClockIsThrottlingOnlyBesideHeatOrFullPower) {
  take(healthy());
  Sample slow = healthy();
  slow.clock_mhz = 500;
  for (int i = 0; i < 5; ++i) EXPECT_THAT(take(slow), IsEmpty()) << "idle";
  slow.temperature_c = 71;
  EXPECT_THAT(take(slow), IsEmpty()) << "one sample may be the moment after";
  const auto heat = take(slow);
  EXPECT_THAT(signs(heat), ElementsAre(Sign::throttling));
  EXPECT_EQ(heat[0].text, "throttles, 500 MHz instead of 1000 MHz at 71 °C");
  EXPECT_TRUE(take(healthy()).at(0).over);
  slow.temperature_c = 57;
  slow.power_w = 99;
  take(slow);
  EXPECT_THAT(take(slow).at(0).text, HasSubstr("at 99 W, its power limit"));
}

TEST_F(SampleWatchTest, AHeartbeatThatStandsStillOverThreeSamples) {
  Sample sample = healthy();
  sample.heartbeat = 7;
  EXPECT_THAT(take(sample), IsEmpty());
  EXPECT_THAT(take(sample), IsEmpty());
  const auto frozen = take(sample);
  EXPECT_THAT(signs(frozen), ElementsAre(Sign::frozen));
  EXPECT_THAT(frozen[0].text, HasSubstr("stands still at 7 for 20.0 s"));
  sample.heartbeat = 3;  // counted from the start
  EXPECT_TRUE(take(sample).at(0).over);
}

TEST_F(SampleWatchTest, QuickSamplesProveNoFrozenHeartbeat) {
  Sample sample = healthy();
  sample.heartbeat = 7;
  for (std::int64_t ms = 0; ms < 5'000; ms += 100) EXPECT_THAT(watch_.take(sample, ms), IsEmpty());
  EXPECT_THAT(signs(watch_.take(sample, 5'000)), ElementsAre(Sign::frozen));
}

TEST_F(SampleWatchTest, AHeartbeatThatCannotBeReadProvesNothing) {
  Sample sample = healthy();
  for (int i = 0; i < 20; ++i) {
    sample.heartbeat = i % 2 == 0 ? std::optional<std::int64_t>(7) : std::nullopt;
    EXPECT_THAT(take(sample), IsEmpty());
  }
}

TEST_F(SampleWatchTest, CountersAreToldByTheirGrowth) {
  Sample sample = healthy();
  sample.aer_correctable = 100;
  sample.aer_nonfatal = 5;
  sample.aer_fatal = 0;
  EXPECT_THAT(take(sample), IsEmpty()) << "of before";
  sample.aer_correctable = 101;
  const auto first = take(sample);
  EXPECT_THAT(signs(first), ElementsAre(Sign::link));
  EXPECT_THAT(first[0].text, HasSubstr("1 corrected PCIe error since the last report, 101 since"));
  // A storm is told of every ten minutes, with all that came.
  int told = 0;
  for (int i = 0; i < 60; ++i) {
    *sample.aer_correctable += 2;
    for (const SampleFinding& finding : take(sample)) {
      ++told;
      EXPECT_THAT(finding.text, HasSubstr("120 corrected PCIe errors"));
    }
  }
  EXPECT_EQ(told, 1);
  sample.aer_correctable = 0;  // reset
  EXPECT_THAT(take(sample), IsEmpty());
  sample.aer_nonfatal = 6;
  sample.aer_fatal = 1;
  EXPECT_THAT(signs(take(sample)), ElementsAre(Sign::fatal, Sign::fatal));
}

TEST_F(SampleWatchTest, ABoardThatIsGone) {
  take(healthy());
  Sample gone;
  gone.present = false;
  EXPECT_THAT(signs(take(gone)), ElementsAre(Sign::gone));
  EXPECT_THAT(take(gone), IsEmpty());
  EXPECT_TRUE(take(healthy()).at(0).over);
}

// The property that matters: nobody is accused because of what cannot be read.
TEST_F(SampleWatchTest, AHealthyBoardIsNeverAccusedWhateverIsAbsent) {
  constexpr unsigned seed = 20261122;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> degrees(20, 69);
  for (int round = 0; round < 500; ++round) {
    SampleWatch watch;
    Sample sample = healthy();
    auto beat = static_cast<std::int64_t>(random() % 1000);
    const auto flip = [&] { return random() % 2 == 0; };
    for (std::int64_t i = 0; i < 20; ++i) {
      sample = healthy();
      sample.temperature_c = degrees(random);
      sample.clock_mhz = flip() ? 1000 : 500;
      sample.heartbeat = ++beat;
      sample.aer_correctable = 12;
      sample.aer_nonfatal = 0;
      sample.aer_fatal = 0;
      if (flip()) sample.temperature_c.reset();
      if (flip()) sample.limit_c.reset();
      if (flip()) sample.power_w.reset();
      if (flip()) sample.power_limit_w.reset();
      if (flip()) sample.clock_mhz.reset();
      if (flip()) sample.heartbeat.reset();
      if (flip()) sample.aer_correctable.reset();
      if (flip()) sample.aer_fatal.reset();
      for (const SampleFinding& finding : watch.take(sample, i * 10'000)) {
        ADD_FAILURE() << finding.text;
      }
    }
  }
}

}  // namespace
}  // namespace trainward::hwprobe
