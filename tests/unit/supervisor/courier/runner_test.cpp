#include "supervisor/courier/runner.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "supervisor/courier/base/courier_table.hpp"
#include "supervisor/courier/deadline.hpp"
#include "supervisor/record/outbox/record.hpp"
#include "temporary_folder.hpp"

namespace trainward::courier {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// A job that does what it is told, and says when it was called.
class Calls {
 public:
  using Work = std::function<Result<std::int64_t>(int call, const World&)>;

  using Asked = std::function<bool()>;

  std::unique_ptr<Job> job(std::string name, Work work, Asked asked = {}) {
    class Told final : public Job {
     public:
      Told(Calls& calls, std::string name, Work work, Asked asked)
          : calls_(calls),
            name_(std::move(name)),
            work_(std::move(work)),
            asked_(std::move(asked)) {}
      [[nodiscard]] std::string name() const override { return name_; }
      Result<std::int64_t> work(const World& world) override {
        return work_(calls_.count_one(), world);
      }
      bool is_asked_for(Journal&) override { return asked_ && asked_(); }

     private:
      Calls& calls_;
      std::string name_;
      Work work_;
      Asked asked_;
    };
    return std::make_unique<Told>(*this, std::move(name), std::move(work), std::move(asked));
  }
  // Whether there were so many, at last.
  bool reached(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return count_ >= count; });
  }
  int count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }

 private:
  int count_one() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return ++count_;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() { (void)store::Store::open(database_).value(); }
  template <typename... Jobs>
  std::unique_ptr<Runner> start(Jobs... jobs) {
    std::vector<std::unique_ptr<Job>> list;
    (list.push_back(std::move(jobs)), ...);
    auto runner = Runner::start(std::move(list), database_, journal_, pace_);
    EXPECT_TRUE(runner.has_value());
    return std::move(*runner);
  }
  json::array jobs() const { return recorded(folder_.path())->at("jobs").as_array(); }

  TemporaryFolder folder_;
  std::filesystem::path database_ = folder_.path() / "trainward.db";
  std::shared_ptr<Journal> journal_ =
      Journal::open(folder_.path() / journal_name, courier_tables()).value();
  Runner::Pace pace_{20, 40, std::chrono::seconds(20)};
};

TEST_F(RunnerTest, AJobIsCalledWhenItsTimeHasComeAndWhenPoked) {
  Calls calls;
  auto runner = start(calls.job("a", [](int call, const World& world) -> Result<std::int64_t> {
    return call < 3 ? world.now_ms + 1 : never;
  }));
  ASSERT_TRUE(calls.reached(3));
  runner->poke();
  ASSERT_TRUE(calls.reached(4));
  EXPECT_TRUE(runner->end());
}

// What was committed while it worked has not been seen by it.
TEST_F(RunnerTest, APokeDuringACallIsNotLost) {
  Calls calls;
  std::promise<void> inside;
  std::promise<void> go_on;
  auto runner = start(calls.job("a", [&](int call, const World&) -> Result<std::int64_t> {
    if (call == 1) {
      inside.set_value();
      go_on.get_future().wait();
    }
    return never;
  }));
  inside.get_future().wait();
  runner->poke();
  go_on.set_value();
  EXPECT_TRUE(calls.reached(2));
}

// The wall clock is set back by an hour: who waits does not wait an hour longer.
TEST(Deadlines, GoByTheClockThatNobodySetsWhereTheOtherIsSet) {
  const Time began{{1'000'000'000}, {50'000}};
  const Deadline deadline(1'000'060'000, began);
  EXPECT_EQ(deadline.left_ms(began), 60'000);
  EXPECT_EQ(deadline.left_ms({{996'430'000}, {80'000}}), 30'000) << "set back";
  EXPECT_LE(deadline.left_ms({{1'003'600'000}, {51'000}}), 0) << "set on";
  const Deadline never(std::numeric_limits<std::int64_t>::max(), began);
  EXPECT_GT(never.left_ms(began), 86'400'000);
}

// A channel that reaches nobody does all it can, and fails.
TEST_F(RunnerTest, ATroubleIsOnRecordThoughTheJobGoesOnAsItWants) {
  Calls calls;
  class Troubled final : public Job {
   public:
    explicit Troubled(std::unique_ptr<Job> calls) : calls_(std::move(calls)) {}
    [[nodiscard]] std::string name() const override { return "channel night"; }
    Result<std::int64_t> work(const World& world) override { return calls_->work(world); }
    [[nodiscard]] Trouble trouble() const override { return {"ntfy.sh: no connection", 77}; }

   private:
    std::unique_ptr<Job> calls_;
  };
  auto runner = start(std::make_unique<Troubled>(
      calls.job("", [](int, const World& world) -> Result<std::int64_t> { return world.now_ms; })));
  ASSERT_TRUE(calls.reached(5)) << "no pause as after an error";
  ASSERT_TRUE(runner->end());
  ASSERT_EQ(jobs().size(), 1U);
  const json::object row = jobs()[0].as_object();
  EXPECT_EQ(row.at("state"), "failing");
  EXPECT_EQ(row.at("error"), "ntfy.sh: no connection");
  EXPECT_EQ(row.at("next_ms"), 77);
}

// Asked to leave: who waits for its time or after an error is called at once, and is named until it
// owes nothing.
TEST_F(RunnerTest, WhatIsToLeaveIsCalledAtOnceAndNamedUntilItHas) {
  class Owing final : public Job {
   public:
    Owing(std::string name, bool fails, std::shared_future<void> paid)
        : name_(std::move(name)), fails_(fails), paid_(std::move(paid)) {}
    [[nodiscard]] std::string name() const override { return name_; }
    [[nodiscard]] bool owes() const override { return owes_; }
    Result<std::int64_t> work(const World& world) override {
      if (world.leaving) paid_.wait();
      owes_ = !world.leaving;
      if (fails_ && owes_) return fail(ErrorKind::transient, "no connection", "box");
      return never;
    }

   private:
    std::string name_;
    bool fails_;
    std::shared_future<void> paid_;
    bool owes_ = true;
  };
  std::promise<void> pay;
  const auto paid = pay.get_future().share();
  pace_.first_pause_ms = pace_.most_pause_ms = 3'600'000;
  pace_.listen_ms = 3'600'000;
  auto runner = start(std::make_unique<Owing>("channel night", false, paid),
                      std::make_unique<Owing>("upload run/box", true, paid));
  const auto names = [&] {
    std::vector<std::string> out;
    for (const auto& job : runner->left()) out.push_back(job.name);
    return out;
  };
  while (jobs().empty()) std::this_thread::yield();
  runner->leave();
  EXPECT_THAT(names(), testing::ElementsAre("channel night", "upload run/box"));
  pay.set_value();
  while (!names().empty()) std::this_thread::yield();
  EXPECT_TRUE(runner->end());
}

TEST_F(RunnerTest, AnErrorIsOnRecordUntilItWorksAgain) {
  Calls calls;
  std::promise<void> mend;
  auto mended = mend.get_future().share();
  auto runner = start(calls.job("a", [&](int call, const World&) -> Result<std::int64_t> {
    if (call < 3) return fail(ErrorKind::transient, "no connection", "ntfy.sh");
    if (call == 3) mended.wait();
    return never;
  }));
  ASSERT_TRUE(calls.reached(3));
  ASSERT_EQ(jobs().size(), 1U);
  EXPECT_EQ(jobs()[0].at("state"), "failing");
  EXPECT_EQ(jobs()[0].at("error"), "ntfy.sh: no connection");
  EXPECT_GT(jobs()[0].at("next_ms").as_int64(), 0);
  mend.set_value();
  runner->poke();
  ASSERT_TRUE(calls.reached(4));
  EXPECT_EQ(jobs()[0].at("state"), "working");
  EXPECT_EQ(jobs()[0].at("error"), "");
}

TEST_F(RunnerTest, PokesDoNotHurryWhatFails) {
  pace_.first_pause_ms = 3'600'000;
  pace_.most_pause_ms = 3'600'000;
  Calls failing;
  Calls fine;
  auto runner =
      start(failing.job("a",
                        [](int, const World&) -> Result<std::int64_t> {
                          return fail(ErrorKind::transient, "no connection");
                        }),
            fine.job("b", [](int, const World&) -> Result<std::int64_t> { return never; }));
  ASSERT_TRUE(failing.reached(1));
  ASSERT_TRUE(fine.reached(1));  // else the first poke may come before it, and is no call more
  for (int i = 2; i < 20; ++i) {
    runner->poke();
    ASSERT_TRUE(fine.reached(i));
  }
  EXPECT_EQ(failing.count(), 1);
}

// Somebody who has mended it need not wait.
TEST_F(RunnerTest, WhatFailedIsTriedAgainWhenItIsAskedFor) {
  pace_.first_pause_ms = 3'600'000;
  pace_.most_pause_ms = 3'600'000;
  pace_.listen_ms = 1;
  Calls calls;
  std::atomic<int> wanted = 1;
  auto runner = start(calls.job(
      "a",
      [](int, const World&) -> Result<std::int64_t> {
        return fail(ErrorKind::transient, "no connection");
      },
      [&] { return calls.count() < wanted; }));
  ASSERT_TRUE(calls.reached(1));
  wanted = 2;
  ASSERT_TRUE(calls.reached(2));
  wanted = 3;
  ASSERT_TRUE(calls.reached(3));
}

TEST_F(RunnerTest, WhateverOneDoesTheOthersWork) {
  Calls thrown;
  Calls hung;
  Calls fine;
  std::promise<void> let_go;
  auto gone = let_go.get_future().share();
  auto runner = start(thrown.job("a",
                                 [](int, const World&) -> Result<std::int64_t> {
                                   throw std::runtime_error("no memory");
                                 }),
                      hung.job("b",
                               [gone](int, const World&) -> Result<std::int64_t> {
                                 gone.wait();
                                 return never;
                               }),
                      fine.job("c", [](int, const World& world) -> Result<std::int64_t> {
                        return world.now_ms + 1;
                      }));
  EXPECT_TRUE(thrown.reached(2));
  EXPECT_TRUE(hung.reached(1));
  EXPECT_TRUE(fine.reached(10));
  let_go.set_value();
}

TEST_F(RunnerTest, WhoDoesNotEndIsLeftBehind) {
  pace_.patience = std::chrono::milliseconds(20);
  Calls calls;
  std::promise<void> let_go;
  auto gone = let_go.get_future().share();
  std::promise<void> last_words;
  auto runner =
      start(calls.job("a", [&last_words, gone](int, const World&) -> Result<std::int64_t> {
        gone.wait();
        last_words.set_value();
        return never;
      }));
  ASSERT_TRUE(calls.reached(1));
  EXPECT_FALSE(runner->end());
  runner.reset();
  let_go.set_value();
  last_words.get_future().wait();
}

TEST_F(RunnerTest, AStopReachesAJobAtWork) {
  Calls calls;
  auto runner = start(calls.job("a", [](int, const World& world) -> Result<std::int64_t> {
    std::promise<void> asked;
    const std::stop_callback on_stop(world.stop, [&] { asked.set_value(); });
    asked.get_future().wait();
    return fail(ErrorKind::transient, "given up because of a stop");
  }));
  ASSERT_TRUE(calls.reached(1));
  EXPECT_TRUE(runner->end());
  EXPECT_TRUE(jobs().empty()) << "an end that was asked for is no failure";
}

TEST_F(RunnerTest, JobsThatAreNoMoreLeaveTheRecord) {
  ASSERT_TRUE(put_job(*journal_, {"gone", true, 1, "x", 2}));
  auto runner = start();
  EXPECT_TRUE(jobs().empty());
}

}  // namespace
}  // namespace trainward::courier
