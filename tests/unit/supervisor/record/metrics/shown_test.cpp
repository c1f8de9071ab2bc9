// What counters were shown as goes on in the next daemon, whatever became of the time that was not
// booked yet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "common/base/random.hpp"
#include "supervisor/record/metrics/collector.hpp"
#include "temporary_folder.hpp"

namespace trainward::metrics {
namespace {

class ShownTest : public testing::Test {
 protected:
  void SetUp() override {
    store_.emplace(store::Store::open(folder_.path() / "run.db").value());
    collector_.emplace();
  }
  void next_daemon() { collector_.emplace(); }
  void open_span(const std::string& phase) {
    since_ms_ = now_ms_;
    phase_ = phase;
    program(phase, now_ms_);
  }
  void program(const std::string& phase, std::int64_t since_ms) {
    store::ProgramRow row;
    row.name = "a";
    row.state = "RUNNING";
    row.core_state = fmt::format(R"({{"wanted": true, "span": {{"phase": "{}", "cause": "",)"
                                 R"( "since": {{"wall_ms": {}, "mono_ms": {}}}}}}})",
                                 phase, since_ms, since_ms);
    ASSERT_TRUE(store_->put_program(row));
  }
  // The open span ends: so many ms of it are booked, the rest to another phase.
  void book(std::int64_t ms) {
    ASSERT_TRUE(store_->add_span("a", {1, phase_, "", since_ms_, ms}));
    const std::int64_t rest = now_ms_ - since_ms_ - ms;
    if (rest == 0) return;
    ASSERT_TRUE(store_->add_span("a", {1, "down", "", since_ms_ + ms, rest}));
  }
  void attempt(std::int64_t decided_ms) { attempt(decided_ms, decided_ms); }
  void attempt(std::int64_t decided_ms, std::int64_t started_ms) {
    store::AttemptRow row;
    row.program = "a";
    row.number = 1;
    row.intended_ms = decided_ms;
    row.started_ms = started_ms;
    ASSERT_TRUE(store_->put_attempt(row));
  }
  // Seconds by phase.
  std::map<std::string, double> scrape(bool by_a_daemon = true) {
    Live live{.version = "1", .daemon = {}, .folders = {{"state", "", folder_.path()}}};
    if (by_a_daemon) live.daemon = DaemonFigures{};
    live.root = folder_.path();
    const auto snapshot = collector_->snapshot(*store_, live, Time{{now_ms_}, {now_ms_}});
    EXPECT_TRUE(snapshot.has_value());
    std::map<std::string, double> out;
    for (const Spent& spent : snapshot->programs.at(0).spent) out[spent.phase] += spent.seconds;
    return out;
  }

  const TemporaryFolder folder_;
  std::optional<store::Store> store_;
  std::optional<Collector> collector_;
  std::int64_t now_ms_ = 1'000'000;
  std::int64_t since_ms_ = 0;
  std::string phase_;
};

// The first attempt is known by when it was decided on, which it is before its worker starts.
TEST_F(ShownTest, NothingFallsWhenADaemonEndsBetweenTheDecisionAndTheStart) {
  program("loading", now_ms_);
  attempt(now_ms_, 0);
  now_ms_ += 20;
  EXPECT_EQ(scrape()["loading"], 0.02);
  attempt(now_ms_ - 20, now_ms_);
  program("loading", now_ms_ - 10);
  next_daemon();
  EXPECT_EQ(scrape()["loading"], 0.02);
}

TEST_F(ShownTest, NothingFallsWhateverIsBookedInTheEnd) {
  constexpr std::uint64_t seed = 29;
  SplitMix64 random(seed);
  constexpr std::array phases = {"loading", "compiling", "stepping", "saving", "replaying"};
  program("loading", now_ms_);
  attempt(now_ms_);
  std::map<std::string, double> before;
  double most = 0;  // that is shown beyond what there was
  const std::int64_t began_ms = now_ms_;
  for (int round = 0; round < 60; ++round) {
    open_span(phases.at(random.below(phases.size())));
    for (std::uint64_t scrapes = random.below(4); scrapes > 0; --scrapes) {
      now_ms_ += static_cast<std::int64_t>(random.below(5'000));
      const auto shown = scrape();
      for (const auto& [phase, seconds] : before) {
        EXPECT_GE(shown.at(phase), seconds) << phase << ", round " << round << ", seed " << seed;
      }
      before = shown;
    }
    if (random.below(3) == 0) next_daemon();
    now_ms_ += static_cast<std::int64_t>(random.below(2'000));
    book(static_cast<std::int64_t>(
        random.below(static_cast<std::uint64_t>(now_ms_ - since_ms_) + 1)));
    double all = 0;
    for (const auto& [phase, seconds] : before) all += seconds;
    most = std::max(most, all - static_cast<double>(now_ms_ - began_ms) / 1000);
  }
  EXPECT_LT(most, 100) << "it adds up: what was shown too early is not counted again";
}

TEST_F(ShownTest, WhoAsksWithoutADaemonSeesNoLessAndKeepsNothing) {
  open_span("loading");
  now_ms_ += 10'000;
  EXPECT_EQ(scrape()["loading"], 10);
  next_daemon();
  now_ms_ -= 5'000;
  EXPECT_EQ(scrape(false)["loading"], 10);
  std::filesystem::remove(folder_.path() / "metrics.shown");
  next_daemon();
  EXPECT_EQ(scrape(false)["loading"], 5);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "metrics.shown"));
}

TEST_F(ShownTest, AnotherRunBeginsAnew) {
  open_span("stepping");
  attempt(now_ms_);
  now_ms_ += 10'000;
  EXPECT_EQ(scrape()["stepping"], 10);
  attempt(now_ms_);
  open_span("stepping");
  next_daemon();
  now_ms_ += 2'000;
  EXPECT_EQ(scrape()["stepping"], 2);
}

TEST_F(ShownTest, AFileThatIsNoneCountsForNothing) {
  for (const char* text :
       {"", "[", "[]", R"({"programs": 3})", R"({"programs": {"a": {"spans": [7, {"ms": "x"}]}}})",
        R"({"host": {"busy": "x"}, "boot": 4})"}) {
    std::ofstream(folder_.path() / "metrics.shown") << text;
    next_daemon();
    open_span("loading");
    now_ms_ += 3'000;
    EXPECT_EQ(scrape()["loading"], 3) << text;
  }
}

}  // namespace
}  // namespace trainward::metrics
