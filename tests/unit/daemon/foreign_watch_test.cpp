// A program that knows nothing of us, seen through real files and inotify.
#include "supervisor/daemon/foreign_watch.hpp"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <fstream>

#include "common/file.hpp"
#include "common/launch.hpp"
#include "temporary_folder.hpp"
#include "words.hpp"

namespace trainward::daemon {
namespace {

using foreign::words;
using testing::ElementsAre;
using testing::IsEmpty;

class ForeignWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(run());
    std::filesystem::create_directories(attempt());
    spec_.status_file = "status.json";
    spec_.log = {{R"(step (?P<step>\d+))", ""}, {"^compiling", "compile"}};
    spec_.checkpoints = {"ckpts/step*.pt"};
  }
  std::filesystem::path run() const { return folder_.path() / "run"; }
  std::filesystem::path attempt() const { return folder_.path() / "attempt"; }

  void launch(ForeignWatch::Known known = {}) {
    if (!std::filesystem::exists(attempt() / attempt_files::launch)) {
      ASSERT_TRUE(write_file_durably(attempt() / attempt_files::launch, "{}"));
    }
    watch_ = std::make_unique<ForeignWatch>(loop_, *watcher_, spec_,
                                            foreign::Folders{run(), folder_.path() / "state"},
                                            attempt(), known, [this](foreign::Events events) {
                                              for (auto& event : events)
                                                events_.push_back(std::move(event));
                                              if (events_.size() >= expected_) loop_.stop();
                                            });
  }
  // Runs the loop until that many events came, and gives them in words.
  std::vector<std::string> next(std::size_t count) {
    expected_ = count;
    loop_.context().restart();  // it was stopped by the event before
    loop_.run([] {});
    return words(std::exchange(events_, {}));
  }
  void status(int step) {
    const std::string text = fmt::format(R"({{"step": {}, "loss": 1}})", step);
    ASSERT_TRUE(write_file_durably(run() / "status.json", text));
  }
  void log(const std::string& text) {
    std::ofstream(attempt() / attempt_files::standard_output, std::ios::app) << text;
  }
  // Written long ago.
  void age(const std::filesystem::path& path) {
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  }

  TemporaryFolder folder_;
  Loop loop_;
  std::unique_ptr<FileWatcher> watcher_ = FileWatcher::make(loop_).value();
  foreign::WatchSpec spec_;
  foreign::Events events_;
  std::size_t expected_ = 0;
  std::unique_ptr<ForeignWatch> watch_;
};

TEST_F(ForeignWatchTest, TheStatusFileIsSeenWhenItAppearsAndWhenItIsReplaced) {
  launch();
  status(1);
  EXPECT_THAT(next(1), ElementsAre("step 1 1 0"));
}

TEST_F(ForeignWatchTest, AStatusFileWrittenInPlaceIsSeen) {
  launch();
  std::ofstream file(run() / "status.json");
  file << R"({"step": 1, )" << std::flush;
  file << R"("loss": 2})" << std::flush;  // still open
  EXPECT_THAT(next(1), ElementsAre("step 1 2 0"));
}

TEST_F(ForeignWatchTest, WhatAnEarlierAttemptLeftIsNotNews) {
  status(9);
  age(run() / "status.json");
  std::filesystem::create_directories(run() / "ckpts");
  std::ofstream(run() / "ckpts/step8.pt") << "x";
  age(run() / "ckpts/step8.pt");
  launch();
  log("step 3\n");
  EXPECT_THAT(next(1), ElementsAre("step 3 0 0"));
  watch_->finish();
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(ForeignWatchTest, OutputThatBeginsLaterIsRead) {
  launch();
  log("compiling\nstep 1\nstep 2\n");
  EXPECT_THAT(next(3), ElementsAre("phase compile", "step 1 0 0", "step 2 0 0"));
}

TEST_F(ForeignWatchTest, ACheckpointInAFolderMadeLaterIsToldWhenItHasSettled) {
  launch();
  std::filesystem::create_directories(run() / "ckpts");
  std::ofstream(run() / "ckpts/step8.pt") << "x";
  EXPECT_THAT(next(1), ElementsAre("checkpoint step8.pt 8"));
}

TEST_F(ForeignWatchTest, TheEndTellsTheRest) {
  launch();
  log("step 1");  // no end of the line
  std::filesystem::create_directories(run() / "ckpts");
  std::ofstream(run() / "ckpts/step1.pt") << "x";
  watch_->finish();
  EXPECT_THAT(words(events_), ElementsAre("step 1 0 0", "checkpoint step1.pt 1"));
}

TEST_F(ForeignWatchTest, ANextDaemonTellsOnlyWhatIsNew) {
  launch();
  log("compiling\nstep 1\nstep 2\n");
  EXPECT_EQ(next(3).size(), 3U);
  watch_.reset();
  log("step 3\n");
  launch({2, 0});
  EXPECT_THAT(next(1), ElementsAre("step 3 0 0"));
}

}  // namespace
}  // namespace trainward::daemon
