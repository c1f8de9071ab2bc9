// How long what happens has to wait for the loop; and work that is done once for many who ask.
#include "supervisor/daemon/loop/loop.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <thread>

#include "supervisor/daemon/loop/background.hpp"
#include "supervisor/daemon/loop/paced_work.hpp"

namespace trainward::daemon {
namespace {

TEST(LoopLatency, TheWorstOfAMinuteAndOfTheWholeLife) {
  LoopLatency latency;
  EXPECT_EQ(latency.figures(0).samples, 0);
  EXPECT_EQ(latency.figures(0).p99_ms, 0);
  latency.note(1'000, 80'000);
  for (int i = 0; i < 999; ++i) latency.note(30'000, 100);
  const auto early = latency.figures(55'000);
  EXPECT_EQ(early.samples, 1'000);
  EXPECT_EQ(early.last_minute_max_ms, 80);
  EXPECT_EQ(early.max_ms, 80);
  EXPECT_NEAR(early.p50_ms, 0.1, 0.025);
  EXPECT_NEAR(early.p99_ms, 0.1, 0.025);
  EXPECT_NEAR(latency.figures(70'000).last_minute_max_ms, 0.1, 0.001);
  EXPECT_EQ(latency.figures(200'000).last_minute_max_ms, 0);
  EXPECT_EQ(latency.figures(200'000).max_ms, 80);
}

TEST(LoopLatency, APercentileIsAFifthTooHighAtMost) {
  for (const std::int64_t us : {1, 2, 3, 4, 5, 7, 8, 100, 1'023, 1'024, 77'777, 5'000'000}) {
    LoopLatency latency;
    for (int i = 0; i < 9; ++i) latency.note(0, us);
    latency.note(0, 1'000'000'000);  // so that the worst does not answer
    const double ms = static_cast<double>(us) / 1'000;
    EXPECT_GE(latency.figures(0).p50_ms, ms);
    EXPECT_LE(latency.figures(0).p50_ms, us < 4 ? ms + 0.001 : ms * 1.251) << us;
  }
}

TEST(Loop, WorkThatTakesLongIsLatencyForWhatIsQueuedBehindIt) {
  Loop loop;
  loop.post([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  loop.post([&] { loop.stop(); });
  loop.run();
  const auto figures = loop.latency();
  EXPECT_EQ(figures.samples, 2);
  EXPECT_GE(figures.max_ms, 20);
  EXPECT_GE(figures.p50_ms, 20) << "the second has waited for as long";
}

TEST(PacedWork, ManyWhoAskAreServedByOne) {
  Loop loop;
  Background background(loop);
  std::atomic<int> done{0};
  int told = 0;
  PacedWork work(
      loop,
      [&](BackgroundJob job) {
        background.run("looks", {"look", std::move(job)});
      },
      [&]() -> std::function<void()> {
        ++done;
        return [&] { ++told; };
      });
  for (int i = 0; i < 1'000; ++i) work.ask();
  while (told < 2) loop.context().run_one();
  EXPECT_EQ(done, 2) << "the first was begun before the others asked";
  work.ask_after(1);
  while (told < 3) loop.context().run_one();
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace trainward::daemon
