// Which of a flood of messages are kept: few, the newest, and everything that does not repeat.

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "supervisor/process/shim/message_pace.hpp"

namespace trainward::shim {
namespace {

struct Kept {
  Message message;
  Time at;
  std::int64_t stands_for = 0;
};

class Pace : public ::testing::Test {
 protected:
  void say(Message message, std::int64_t at_ms) {
    ++said_;
    pace_.offer(std::move(message), {at_ms, at_ms}, keep_);
  }
  std::int64_t stood_for() const {
    std::int64_t sum = 0;
    for (const Kept& one : kept_) sum += one.stands_for;
    return sum;
  }
  std::vector<std::string> values(std::string_view key) const {
    std::vector<std::string> found;
    for (const Kept& one : kept_) {
      if (const auto value = find(one.message, key)) found.emplace_back(*value);
    }
    return found;
  }

  std::vector<Kept> kept_;
  MessagePace::Keep keep_ = [this](const Message& message, Time at, std::int64_t stands_for) {
    kept_.push_back({message, at, stands_for});
  };
  MessagePace pace_;
  std::int64_t said_ = 0;
};

TEST_F(Pace, WhatComesNoFasterThanTheRateIsKeptAtOnce) {
  for (int i = 1; i <= 50'000; ++i) {
    say({{"STEP", std::to_string(i)}}, 10LL * i);
    ASSERT_EQ(kept_.size(), static_cast<std::size_t>(i));
  }
  EXPECT_EQ(pace_.left_out(), 0);
}

TEST_F(Pace, ABurstIsKeptWhole) {
  for (int i = 1; i <= 8'000; ++i) say({{"STEP", std::to_string(i)}}, 1);
  EXPECT_EQ(kept_.size(), 8'000U);
  EXPECT_EQ(pace_.wait_ms(), -1);
}

// Twenty seconds of ten a millisecond.
TEST_F(Pace, OfAFloodTheNewestOfEachTenMillisecondsIsKeptAndTheRestCounted) {
  std::int64_t step = 0;
  for (std::int64_t ms = 1; ms <= 20'000; ++ms) {
    for (int i = 0; i < 10; ++i) say({{"STEP", std::to_string(++step)}}, ms);
    if (ms == 10'000) say({{"PHASE", "save"}}, ms);
    if (ms == 10'000) say({{"CHECKPOINT", "/c"}, {"CHECKPOINT_STEP", "9"}}, ms);
    if (ms == 10'001) say({{"PHASE", "train"}}, ms);
    if (ms == 15'000) say({{"STEP", std::to_string(++step)}, {"LOSS", "nan"}}, ms);
  }
  pace_.finish(keep_);
  EXPECT_LE(kept_.size(), 10'010U);
  EXPECT_GE(kept_.size(), 9'800U);
  EXPECT_EQ(stood_for(), said_);
  EXPECT_EQ(pace_.left_out(), said_ - std::int64_t(kept_.size()));
  EXPECT_EQ(values("STEP").back(), std::to_string(step));
  EXPECT_EQ(values("PHASE"), (std::vector<std::string>{"save", "train"}));
  EXPECT_EQ(values("CHECKPOINT").size(), 1U);
  EXPECT_EQ(values("LOSS").size(), 1U);
  for (std::size_t i = 1; i < kept_.size(); ++i) ASSERT_GE(kept_[i].at.mono, kept_[i - 1].at.mono);
}

TEST_F(Pace, WhatWaitsIsWrittenWhenItsTimeHasComeThoughNothingFollows) {
  for (int i = 1; i <= 8'100; ++i) say({{"STEP", std::to_string(i)}}, 1);
  EXPECT_EQ(kept_.size(), 8'000U);
  EXPECT_EQ(pace_.wait_ms(), 10);
  pace_.look({5}, keep_);
  EXPECT_EQ(kept_.size(), 8'000U);
  pace_.look({11}, keep_);
  ASSERT_EQ(kept_.size(), 8'001U);
  EXPECT_EQ(values("STEP").back(), "8100");
  EXPECT_EQ(kept_.back().stands_for, 100);
}

// Whatever is said: a bounded number of bytes, in order, and each kind's last word.
TEST_F(Pace, NoMixtureOfMessagesWritesMoreThanItsShare) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::string> keys{
      "STEP",      "PHASE",     "CHECKPOINT",  "STATUS",   "RESUMED_STEP",   "SAMPLE_STEP",
      "EARLY_END", "CACHE_HIT", "TARGET_STEP", "WATCHDOG", "EVALUATED_STEP", "DATA_LEFT_OUT"};
  std::map<std::string, std::string> last;
  std::int64_t number = 0;
  constexpr std::int64_t seconds = 10;
  for (std::int64_t ms = 1; ms <= seconds * 1'000; ++ms) {
    for (int i = 0; i < 8; ++i) {
      const std::string& key = keys[random() % keys.size()];
      last[key] = std::to_string(++number);
      say({{key, last[key]}, {"PADDING", std::string(random() % 4'000, random() % 2 ? 'x' : '\1')}},
          ms);
    }
  }
  pace_.finish(keep_);
  std::size_t bytes = 0;
  for (const Kept& one : kept_) {
    for (const auto& [key, value] : one.message) {
      bytes += key.size() + value.size() * (value.starts_with('\1') ? 6 : 1);
    }
  }
  EXPECT_LE(bytes, 4'000'000U + 2'000'000U + 525'000U * (seconds + 1) + 300'000U);
  EXPECT_EQ(stood_for(), said_);
  for (const char* key : {"STEP", "PHASE", "CHECKPOINT", "RESUMED_STEP", "TARGET_STEP"}) {
    EXPECT_EQ(values(key).back(), last[key]) << key;
  }
}

}  // namespace
}  // namespace trainward::shim
