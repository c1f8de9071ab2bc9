// A stop is for everybody behind the first process, whoever of them ends first.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "shim_fixture.hpp"

namespace trainward {
namespace {

class StopRequest : public Shim {
 protected:
  // saver.sh has a helper, and saves when it is asked to and may, which takes as long as nobody
  // opens the pipe.
  void SetUp() override {
    ASSERT_EQ(::mkfifo((folder() / "may").c_str(), 0600), 0);
    std::ofstream(folder() / "saver.sh")
        << "trap 'echo saving; read x < may; echo saved; exit 75' TERM INT\n"
           "tail -f /dev/null &\n"
           "until grep -q 'Name:.tail' /proc/$!/status; do :; done\necho ready\nwait\n";
    std::ofstream(folder() / "deaf.sh") << "trap '' TERM\necho ready\nexec tail -f /dev/null\n";
  }
  void start_behind_a_shell(const std::string& script) {
    start_script("sh " + script + "; echo 'the shell went on'");
    await_output("ready\n");
  }
  void await_output(const std::string& text) {
    until([&] { return log(attempt_files::standard_output).ends_with(text); });
  }
  void let_it_save() {
    const auto pipe = open_file(folder() / "may", O_WRONLY);
    ASSERT_TRUE(pipe.has_value());
  }
  static std::string first_name(const JournalRecord& record, const char* list) {
    return std::string(record.fields.at(list).at(0).at("comm").as_string());
  }
  pid_t worker() { return static_cast<pid_t>(await("started").fields.at("pid").as_int64()); }
};

TEST_F(StopRequest, WhatSavesBehindAShellIsWaitedFor) {
  start_behind_a_shell("saver.sh");
  ::kill(pid_, SIGTERM);
  EXPECT_EQ(first_name(await("outlived"), "processes"), "sh");
  await_output("saving\n");
  EXPECT_EQ(::waitpid(pid_, nullptr, WNOHANG), 0) << "the shim has not waited";
  let_it_save();
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(log(attempt_files::standard_output), "ready\nsaving\nsaved\n");
  const auto exit = records().back();
  EXPECT_EQ(exit.fields.at("signal").as_int64(), SIGTERM);
  EXPECT_TRUE(exit.fields.at("asked_to_stop").as_bool());
  EXPECT_NE(exit.fields.at("asked_by").as_string(), "");
  EXPECT_FALSE(exit.fields.contains("cut_off"));
}

TEST_F(StopRequest, ASignalOfItsOwnIsPassedOn) {
  spec_.stop_signal = SIGINT;
  start_behind_a_shell("saver.sh");
  ::kill(pid_, SIGTERM);
  await_output("saving\n");  // a shell waits for its child at this one
  let_it_save();
  EXPECT_EQ(wait(), 0);
  EXPECT_THAT(log(attempt_files::standard_output), testing::HasSubstr("saving\nsaved\n"));
}

TEST_F(StopRequest, WhoNeverEndsIsKilledAndNamed) {
  start_behind_a_shell("deaf.sh");
  ::kill(pid_, SIGTERM);
  await("outlived");
  EXPECT_EQ(::waitpid(pid_, nullptr, WNOHANG), 0);
  ::kill(pid_, SIGUSR2);
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(first_name(records().back(), "cut_off"), "tail");
}

TEST_F(StopRequest, AHelperThatIgnoresItDoesNotHoldUpWhoHasAnswered) {
  start_script("trap 'exit 75' TERM; sh deaf.sh & wait");
  await_output("ready\n");
  ::kill(pid_, SIGTERM);
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(records().back().fields.at("code").as_int64(), 75);
  EXPECT_GT(records().back().fields.at("helpers_killed").as_int64(), 0);
}

TEST_F(StopRequest, NorDoesItHoldUpACrash) {
  start_script("sh deaf.sh & while [ ! -s stdout.log ]; do :; done; kill -SEGV $$");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(records().back().fields.at("signal").as_int64(), SIGSEGV);
}

// Somebody ends the shell alone, and not through the shim.
TEST_F(StopRequest, WhatAShellLeavesThatSomebodyEndsIsAskedAsWell) {
  start_behind_a_shell("saver.sh");
  ::kill(worker(), SIGTERM);
  await("outlived");
  await_output("saving\n");
  let_it_save();
  EXPECT_EQ(wait(), 0);
  EXPECT_TRUE(log(attempt_files::standard_output).ends_with("saved\n"));
}

}  // namespace
}  // namespace trainward
