// A helper that talks, falls silent, ends, or does not even end when it is killed.
#include "supervisor/daemon/boards/sample_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "supervisor/daemon/loop/loop.hpp"
#include "temporary_folder.hpp"

namespace trainward::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A kernel that does not let a child die.
class StuckProcesses : public hwprobe::Processes {
 public:
  void kill(pid_t child) override { asked_to_kill = child; }
  hwprobe::Waited wait(pid_t /*child*/) override { return {}; }
  pid_t asked_to_kill = 0;
};

class SampleStreamTest : public testing::Test {
 protected:
  SampleStream::Settings settings(const std::string& script) const {
    SampleStream::Settings settings;
    settings.argv = {"/bin/sh", "-c", script, "sh", folder_.path().string()};
    settings.name = "0000:c1:00.0";
    settings.memory = folder_.path() / "watch";
    settings.silence_ms = 20'000;
    settings.kill_grace_ms = 20;
    settings.pause_ms = 10;
    return settings;
  }
  SampleStream::Listener until(std::function<bool()> enough) {
    const auto look = [this, enough = std::move(enough)] {
      if (enough()) loop_->stop();
    };
    return {[this, look](std::string_view line) {
              lines_.emplace_back(line);
              look();
            },
            [this, look](const SampleStream::Trouble& trouble) {
              troubles_.push_back(trouble);
              look();
            }};
  }
  void run() { loop_->run(); }

  TemporaryFolder folder_;
  // One that has ended does not begin again.
  std::unique_ptr<Loop> loop_ = std::make_unique<Loop>();
  hwprobe::Processes processes_;
  std::vector<std::string> lines_;
  std::vector<SampleStream::Trouble> troubles_;
};

TEST_F(SampleStreamTest, LinesComeAsTheyAreSaidAndOneThatEndsIsStartedAgain) {
  const SampleStream stream(*loop_, processes_, settings("echo one; printf 'two'; echo; echo half"),
                            until([&] { return lines_.size() == 4; }));
  run();
  ASSERT_GE(lines_.size(), 4U);
  lines_.resize(4);  // more may have come at once
  EXPECT_THAT(lines_, ElementsAre("one", "two", "half", "one"));
  EXPECT_TRUE(troubles_.empty());
}

TEST_F(SampleStreamTest, ALineWithoutAnEndTakesNoMoreThanItsShareOfMemory) {
  const SampleStream stream(*loop_, processes_,
                            settings("head -c 300000 /dev/zero | tr '\\0' x; echo; echo short; cat "
                                     "> /dev/null; sleep 100"),
                            until([&] { return lines_.size() == 2; }));
  run();
  EXPECT_EQ(lines_[0].size(), 4096U);
  EXPECT_EQ(lines_[1], "short");
}

TEST_F(SampleStreamTest, OneThatFallsSilentIsEndedToldOfAndStartedAgain) {
  ASSERT_EQ(::mkfifo((folder_.path() / "fifo").c_str(), 0600), 0);
  auto with = settings("echo begin; read line < \"$1/fifo\"");
  with.silence_ms = 50;
  with.kill_grace_ms = 60'000;  // on a machine with other work a kill takes its time
  const SampleStream stream(*loop_, processes_, with,
                            until([&] { return troubles_.size() == 2 && lines_.size() >= 2; }));
  run();
  for (const auto& trouble : troubles_) {
    EXPECT_FALSE(trouble.stuck);
    EXPECT_THAT(trouble.text, HasSubstr("gave no sample for 50 ms"));
  }
}

TEST_F(SampleStreamTest, OneThatOutlivesItsKillIsLeftAndNoneIsStartedBesideIt) {
  StuckProcesses stuck;
  auto with = settings("echo $$ >> \"$1/started\"; exec sleep 1000");
  with.silence_ms = 50;
  {
    const SampleStream stream(*loop_, stuck, with, until([&] { return troubles_.size() == 2; }));
    run();
    EXPECT_FALSE(troubles_[0].stuck);
    EXPECT_TRUE(troubles_[1].stuck);
    EXPECT_THAT(troubles_[1].text, HasSubstr(std::to_string(stuck.asked_to_kill)));
  }
  // The next daemon: the process is there, and remembered.
  troubles_.clear();
  with.argv[2] = "echo later";
  loop_ = std::make_unique<Loop>();
  {
    const SampleStream stream(*loop_, processes_, with,
                              until([&] { return !troubles_.empty() || !lines_.empty(); }));
    run();
    ASSERT_EQ(troubles_.size(), 1U);
    EXPECT_TRUE(troubles_[0].stuck);
    EXPECT_THAT(troubles_[0].text, HasSubstr("earlier helper"));
    EXPECT_TRUE(lines_.empty());
    // The kernel lets go.
    ::kill(stuck.asked_to_kill, SIGKILL);
    ::waitpid(stuck.asked_to_kill, nullptr, 0);
  }
  loop_ = std::make_unique<Loop>();
  {
    const SampleStream stream(*loop_, processes_, with, until([&] { return !lines_.empty(); }));
    run();
    EXPECT_EQ(lines_.front(), "later");
  }
  std::ifstream started(folder_.path() / "started");
  std::string pid;
  int times = 0;
  while (started >> pid) ++times;
  EXPECT_EQ(times, 1);
}

TEST_F(SampleStreamTest, MayBeDestroyedByWhomItTells) {
  std::unique_ptr<SampleStream> stream;
  stream = std::make_unique<SampleStream>(
      *loop_, processes_, settings("echo one; echo two; exec sleep 1000"),
      SampleStream::Listener{[&](std::string_view line) {
                               lines_.emplace_back(line);
                               stream.reset();
                               loop_->post([this] { loop_->stop(); });
                             },
                             {}});
  run();
  EXPECT_THAT(lines_, ElementsAre("one"));
}

TEST_F(SampleStreamTest, AProgramThatIsNotThereIsNoTroubleOfTheBoard) {
  auto with = settings("");
  with.argv = {(folder_.path() / "none").string()};
  Timer later(*loop_);
  later.after(100, [this] { loop_->stop(); });
  const SampleStream stream(*loop_, processes_, with, until([] { return false; }));
  run();
  EXPECT_TRUE(troubles_.empty());
}

}  // namespace
}  // namespace trainward::daemon
