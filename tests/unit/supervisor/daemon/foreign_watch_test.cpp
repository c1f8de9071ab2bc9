// A program that knows nothing of us, seen through real files and inotify.
#include "supervisor/daemon/attempt/foreign_watch.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <fstream>
#include <utility>

#include "common/os/clock.hpp"
#include "common/os/file.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/daemon/loop/background.hpp"
#include "temporary_folder.hpp"
#include "words.hpp"

namespace trainward::daemon {
namespace {

using foreign::words;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

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
    auto in_background = [this](BackgroundJob job) {
      ++jobs_;
      background_.run("looks", {"look", std::move(job)});
    };
    watch_ = std::make_unique<ForeignWatch>(loop_, watcher_, in_background, spec_,
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
    loop_.run();
    return words(std::exchange(events_, {}));
  }
  // All that is left.
  std::vector<std::string> end() {
    loop_.context().restart();
    expected_ = 1'000'000;
    watch_->finish([this] { loop_.stop(); });
    loop_.run();
    watch_.reset();
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
  FileWatcher watcher_{loop_};
  foreign::WatchSpec spec_;
  foreign::Events events_;
  std::size_t expected_ = 0;
  int jobs_ = 0;
  Background background_{loop_};
  std::unique_ptr<ForeignWatch> watch_;
};

TEST_F(ForeignWatchTest, TheStatusFileIsSeenWhenItAppearsAndWhenItIsReplaced) {
  launch();
  status(1);
  EXPECT_THAT(next(1), ElementsAre("step 1 1 -"));
}

TEST_F(ForeignWatchTest, AStatusFileWrittenInPlaceIsSeen) {
  launch();
  std::ofstream file(run() / "status.json");
  file << R"({"step": 1, )" << std::flush;
  file << R"("loss": 2})" << std::flush;  // still open
  EXPECT_THAT(next(1), ElementsAre("step 1 2 -"));
}

TEST_F(ForeignWatchTest, WhatAnEarlierAttemptLeftIsNotNews) {
  status(9);
  age(run() / "status.json");
  std::filesystem::create_directories(run() / "ckpts");
  std::ofstream(run() / "ckpts/step8.pt") << "x";
  age(run() / "ckpts/step8.pt");
  launch();
  log("step 3\n");
  EXPECT_THAT(next(1), ElementsAre("step 3 - -"));
  EXPECT_THAT(end(), IsEmpty());
}

TEST_F(ForeignWatchTest, OutputThatBeginsLaterIsRead) {
  launch();
  log("compiling\nstep 1\nstep 2\n");
  EXPECT_THAT(next(3), ElementsAre("phase compile", "step 1 - -", "step 2 - -"));
}

TEST_F(ForeignWatchTest, ACheckpointInAFolderMadeLaterIsToldWhenItHasSettled) {
  launch();
  std::filesystem::create_directories(run() / "ckpts");
  std::ofstream(run() / "ckpts/step8.pt") << "x";
  EXPECT_THAT(next(1), ElementsAre("checkpoint step8.pt 8"));
}

TEST_F(ForeignWatchTest, AFolderIsToldAgainWhenSomethingComesIntoIt) {
  spec_.checkpoints = {"out/checkpoint-*"};
  launch();
  std::filesystem::create_directories(run() / "out/checkpoint-8/optimizer");
  std::ofstream(run() / "out/checkpoint-8/model.bin") << "x";
  EXPECT_THAT(next(1), ElementsAre("checkpoint checkpoint-8 8"));
  std::ofstream(run() / "out/checkpoint-8/optimizer/rank_0.bin") << "x";
  EXPECT_THAT(next(1), ElementsAre("checkpoint checkpoint-8 8"));
}

TEST_F(ForeignWatchTest, AFileWithoutAStepIsOfTheStepBeforeItsTime) {
  spec_.checkpoints = {"*.ckpt"};
  const std::int64_t began_ms = now().wall.ms - 1'000;
  launch({.step_at = [&](std::int64_t wall_ms) -> std::optional<std::int64_t> {
    EXPECT_GE(wall_ms, began_ms);
    return 42;
  }});
  std::ofstream(run() / "last.ckpt") << "x";
  EXPECT_THAT(next(1), ElementsAre("checkpoint last.ckpt 42"));
}

TEST_F(ForeignWatchTest, WhyAMatchDoesNotCountIsSaidOnce) {
  spec_.checkpoints = {"*.ckpt", "*.fifo"};
  ASSERT_EQ(::mkfifo((run() / "a.fifo").c_str(), 0600), 0);
  launch({.step_at = [](std::int64_t) { return std::nullopt; }});
  std::ofstream(run() / "last.ckpt") << "x";
  const auto told = end();
  EXPECT_THAT(told, Contains(StartsWith("noticed: last.ckpt matches watch.checkpoints and does not "
                                        "count: there is no step in its name")));
  EXPECT_THAT(told, Contains(HasSubstr("a.fifo matches watch.checkpoints and does not count: is "
                                       "neither a file nor a folder")));
  EXPECT_EQ(told.size(), 2U) << testing::PrintToString(told);
}

TEST_F(ForeignWatchTest, TheEndTellsTheRest) {
  launch();
  log("step 1");  // no end of the line
  std::filesystem::create_directories(run() / "ckpts");
  std::ofstream(run() / "ckpts/step1.pt") << "x";
  EXPECT_THAT(end(), ElementsAre("step 1 - -", "checkpoint step1.pt 1"));
}

TEST_F(ForeignWatchTest, CheckpointsThatTheOutputNamesLieInTheProgramsFolders) {
  spec_.log = {{R"(saved (?P<checkpoint>\S+))", ""}};
  std::ofstream(run() / "a7.pt") << "x";
  launch();
  log("saved a7.pt\nsaved ../attempt/launch.json\nsaved /etc/passwd9\n");
  EXPECT_THAT(end(), ElementsAre("checkpoint a7.pt 7"));
}

// A copy of old checkpoints into the folder, entry by entry.
TEST_F(ForeignWatchTest, ABurstOfFilesIsAFewLooksAndTheNewestAreTold) {
  std::filesystem::create_directories(run() / "ckpts");
  launch();
  std::ofstream(run() / "old") << "x";
  for (int step = 1; step <= 2'000; ++step) {
    std::filesystem::create_hard_link(run() / "old", run() / fmt::format("ckpts/step{}.pt", step));
    loop_.context().poll();
  }
  const int during = jobs_;
  const auto told = end();
  EXPECT_EQ(told.back(), "checkpoint step2000.pt 2000");
  EXPECT_LE(told.size(), foreign::most_checkpoints_told * 3) << "as many as there were looks";
  RecordProperty("looks", during);
  EXPECT_LT(during, 200) << "one for each file were 2,000";
}

// Nothing that anybody asked for, all the time.
TEST_F(ForeignWatchTest, AFolderThatChangesAllTheTimeIsLookedAtFiveTimesASecond) {
  std::filesystem::create_directories(run() / "ckpts");
  launch();
  const auto begin = std::chrono::steady_clock::now();
  const auto end_of_test = begin + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < end_of_test) {
    for (int i = 0; i < 50; ++i) {
      std::ofstream(run() / "ckpts/step1.pt") << "x";
      std::filesystem::remove(run() / "ckpts/step1.pt");
    }
    loop_.context().poll();
  }
  // Two kinds of looks, at the beginning and then every 200 ms.
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(jobs_, 2 * (2 + static_cast<int>(took.count() * 5)));
}

TEST_F(ForeignWatchTest, AFloodOfOutputIsReadInSmallPieces) {
  launch();
  std::string flood;
  for (int step = 1; step <= 20'000; ++step) flood += fmt::format("step {}\n", step);
  log(flood);
  std::size_t most = 0;
  std::size_t seen = 0;
  Step newest{0};
  while (newest < Step{20'000}) {
    expected_ = 1'000'000;
    loop_.context().run_one();
    most = std::max(most, events_.size() - seen);
    for (; seen < events_.size(); ++seen) {
      if (const auto* step = std::get_if<core::StepDone>(&events_[seen])) newest = step->step;
    }
  }
  EXPECT_GE(events_.size(), 8'000U) << "and of the rest the newest";
  EXPECT_LT(most, 6'000U) << "of a turn of the loop";
}

// A pipe that nobody writes to, one that is written to all the time, and a link to what never ends:
// none is waited for, none is read, and the look costs as much as any other.
TEST_F(ForeignWatchTest, AStatusFileThatIsNoFileIsNeitherWaitedForNorRead) {
  const auto place = run() / "status.json";
  ASSERT_EQ(::mkfifo(place.c_str(), 0600), 0);
  launch();
  const Fd writer(::open(place.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  const auto stir = [&] {
    for (int i = 0; i < 200; ++i) {
      (void)!::write(writer.get(), R"({"step": 1})", 11);
      loop_.context().poll();
    }
  };
  stir();
  std::filesystem::remove(place);
  ASSERT_EQ(::symlink("/dev/zero", place.c_str()), 0);
  stir();
  log("step 1\n");
  EXPECT_THAT(next(1), ElementsAre("step 1 - -")) << "what else there is goes on";
  std::filesystem::remove(place);
  status(2);
  EXPECT_THAT(next(1), ElementsAre("step 2 1 -")) << "and a file in its place is seen";
  EXPECT_LT(jobs_, 40) << "one for each change were 400";
}

// As much as a training run keeps: looked at as a whole, and the newest 16 told, whatever happens.
TEST_F(ForeignWatchTest, AThousandCheckpointsAreOneLookAndTheNewestAreTold) {
  std::filesystem::create_directories(run() / "ckpts");
  launch();
  std::ofstream(run() / "old") << "x";
  for (int step = 1; step <= 1'000; ++step) {
    std::filesystem::create_hard_link(run() / "old", run() / fmt::format("ckpts/step{}.pt", step));
  }
  const auto told = end();
  ASSERT_FALSE(told.empty());
  EXPECT_LE(told.size(), foreign::most_checkpoints_told * 2) << "at the launch and at the end";
  EXPECT_EQ(told.back(), "checkpoint step1000.pt 1000");
  EXPECT_LE(jobs_, 4);
}

TEST_F(ForeignWatchTest, ANextDaemonTellsOnlyWhatIsNew) {
  launch();
  log("compiling\nstep 1\nstep 2\n");
  EXPECT_EQ(next(3).size(), 3U);
  watch_.reset();
  log("step 3\n");
  launch({2, 0, 0});
  EXPECT_THAT(next(1), ElementsAre("step 3 - -"));
}

class RecognisedTest : public ForeignWatchTest {
 protected:
  void SetUp() override {
    ForeignWatchTest::SetUp();
    spec_ = {};
    spec_.preset = "auto";
  }
  void log_error(const std::string& text) {
    std::ofstream(attempt() / attempt_files::standard_error, std::ios::app) << text;
  }
};

TEST_F(RecognisedTest, StepsComeFromBothStreamsWithoutAWordInTheConfiguration) {
  log_error("  0%|  | 0/9 [00:00<?, ?it/s]\r 11%|  | 1/9 [00:01<00:08,  1.00it/s]\r");
  launch();
  log("{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n");
  log_error(" 22%|  | 2/9 [00:02<00:07,  1.00it/s]\r 33%|  | 3/9 [00:03<00:06,  1.00it/s]\r");
  log("{'loss': 2.25, 'learning_rate': 1e-05, 'epoch': 0.2}\n");
  const auto events = end();
  EXPECT_THAT(events, Contains(HasSubstr("recognised the output of Hugging Face Trainer")));
  EXPECT_THAT(events, Contains(StartsWith("step 3 ")));
  EXPECT_EQ(jobs_, 1) << "nothing lies in the program's folders that has to be waited for";
}

// A million lines a minute are 16,667 a second: as many are read in pieces, each a step.
TEST_F(RecognisedTest, AFloodOfStepsIsReadInSmallPieces) {
  launch();
  std::string flood;
  for (int step = 1; step <= 16'667; ++step) {
    flood += fmt::format("iter {}: loss 2.5000, time 20.00ms, mfu 41.22%\n", step);
  }
  log(flood);
  std::size_t most = 0;
  std::size_t seen = 0;
  int steps = 0;
  Step newest{0};
  while (newest < Step{16'667}) {
    expected_ = 1'000'000;
    loop_.context().run_one();
    most = std::max(most, events_.size() - seen);
    for (; seen < events_.size(); ++seen) {
      const auto* step = std::get_if<core::StepDone>(&events_[seen]);
      if (step == nullptr) continue;
      newest = step->step;
      ++steps;
    }
  }
  EXPECT_GE(steps, 8'000) << "and of the rest the newest";
  EXPECT_LT(most, 500U) << "of a turn of the loop: 16 KiB of each log";
}

TEST_F(RecognisedTest, OfOutputThatSaysNothingComesNothing) {
  log("hello\nloss of 3 packets\n");
  launch();
  EXPECT_THAT(end(), IsEmpty());
}

TEST_F(RecognisedTest, ANextDaemonCountsOnlyWhatIsNewAndDoesNotSayItAgain) {
  log("iter 1: loss 3, time 1ms\niter 2: loss 2, time 1ms\n");
  launch();
  EXPECT_EQ(next(3).size(), 3U);
  watch_.reset();
  log("iter 3: loss 1, time 1ms\n");
  launch({2, 0, 0});
  EXPECT_THAT(next(1), ElementsAre("step 3 1 -"));
}

TEST_F(RecognisedTest, AProgramThatCountsFromItsOwnStartIsNotTakenToHaveIgnoredItsCheckpoint) {
  log("iter 1: loss 3, time 1ms\niter 2: loss 2, time 1ms\niter 8: loss 1, time 1ms\n");
  launch({0, 0, 7});
  EXPECT_THAT(end(), ElementsAre(StartsWith("noticed: recognised"),
                                 HasSubstr("was to go on from step 7"), "step 8 1 -"));
}

}  // namespace
}  // namespace trainward::daemon
