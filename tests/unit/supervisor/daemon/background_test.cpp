// Work beside the loop: in order within a queue, and no queue waits for another.
#include "supervisor/daemon/loop/background.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "common/base/time.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

using testing::ElementsAre;

// A file that nobody writes to: whoever opens it for reading sleeps in the kernel.
class Pipe {
 public:
  Pipe() { ::mkfifo(path().c_str(), 0600); }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "pipe"; }
  [[nodiscard]] Background::Job stuck_job(std::shared_ptr<std::promise<void>> ended) const {
    Background::Job job;
    job.what = "read a pipe";
    job.work = [path = path(), ended]() -> Background::Then {
      const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      ended->set_value();
      return [] {};
    };
    return job;
  }
  void let_go() const { const Fd fd(::open(path().c_str(), O_WRONLY | O_CLOEXEC)); }

 private:
  TemporaryFolder folder_;
};

Background::Job job(std::function<Background::Then()> work) {
  Background::Job made;
  made.what = "work";
  made.work = std::move(work);
  return made;
}

TEST(Background, JobsOfAQueueRunInOrderAndTheirResultsComeOnTheLoop) {
  Loop loop;
  Background background(loop);
  std::vector<int> results;
  const auto loop_thread = std::this_thread::get_id();
  for (int i = 0; i < 20; ++i) {
    background.run("one", job([&, i]() -> Background::Then {
                     EXPECT_NE(std::this_thread::get_id(), loop_thread);
                     return [&, i] {
                       EXPECT_EQ(std::this_thread::get_id(), loop_thread);
                       results.push_back(i);
                       if (i == 19) loop.stop();
                     };
                   }));
  }
  loop.run();
  std::vector<int> expected(20);
  for (int i = 0; i < 20; ++i) expected[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(results, expected);
}

TEST(Background, AQueueThatIsStuckHoldsUpNobodyElseAndIsTold) {
  const Pipe pipe;
  auto ended = std::make_shared<std::promise<void>>();
  Loop loop;
  {
    Background background(loop);
    std::vector<std::string> order;
    auto stuck = pipe.stuck_job(ended);
    stuck.late_ms = 1;
    stuck.late = [&] {
      order.emplace_back("late");
      loop.stop();
    };
    background.run("bad", std::move(stuck));
    background.run("bad", job([]() -> Background::Then {
                     ADD_FAILURE() << "the one before it has not ended";
                     return [] {};
                   }));
    background.run("good",
                   job([&]() -> Background::Then { return [&] { order.emplace_back("good"); }; }));
    loop.run();
    EXPECT_THAT(order, ElementsAre("good", "late"));
    ASSERT_TRUE(background.running("bad").has_value());
    EXPECT_EQ(background.running("bad")->what, "read a pipe");
    EXPECT_FALSE(background.running("good").has_value());
    // Its end waits for nobody who is stuck.
  }
  pipe.let_go();
  ended->get_future().wait();
}

TEST(Background, ManyQueuesShareAFewThreadsAndStuckOnesTakeNobodysPlace) {
  std::vector<std::unique_ptr<Pipe>> pipes;
  std::vector<std::shared_ptr<std::promise<void>>> ended;
  Loop loop;
  {
    Background background(loop);
    for (int i = 0; i < 20; ++i) {
      pipes.push_back(std::make_unique<Pipe>());
      ended.push_back(std::make_shared<std::promise<void>>());
      background.run("stuck " + std::to_string(i), pipes.back()->stuck_job(ended.back()));
    }
    int done = 0;
    for (int i = 0; i < 1000; ++i) {
      background.run(std::to_string(i), job([&]() -> Background::Then {
                       return [&] {
                         if (++done == 1000) loop.stop();
                       };
                     }));
    }
    loop.run();
    EXPECT_EQ(done, 1000);
  }
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    // Those that never got a thread were dropped, and nobody reads their pipes.
    const Fd fd(::open(pipes[i]->path().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (fd) ended[i]->get_future().wait();
  }
}

}  // namespace
}  // namespace trainward::daemon
