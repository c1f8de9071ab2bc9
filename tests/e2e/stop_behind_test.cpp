// A stop behind a shell or a launcher: what trains may save, whichever process ends first.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using testing::HasSubstr;

class StopBehind : public World, public testing::WithParamInterface<const char*> {
 protected:
  // train.py saves when it is asked to and may, which takes as long as nobody opens the pipe.
  void SetUp() override {
    if (run("/usr/bin/env", {"python3", "-c", ""}).code != 0) GTEST_SKIP() << "no python3 here";
    ASSERT_EQ(::mkfifo(path("may").c_str(), 0600), 0);
    write("train.py",
          "import signal, sys\n"
          "def save(*_):\n"
          "    open('saving', 'w').close(); open('may').read(); open('saved', 'w').close()\n"
          "    sys.exit(75)\n"
          "signal.signal(signal.SIGTERM, save); signal.signal(signal.SIGINT, save)\n"
          "open('up', 'w').close()\n"
          "while True: signal.pause()\n");
    write("deaf.py",
          "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
          "open('up', 'w').close()\nwhile True: signal.pause()\n");
    write("run.sh", "export A=1\npython3 ${1:-train.py}\necho \"python ended with $?\"\n");
    write("launch.py",
          "import subprocess, sys\nsubprocess.Popen([sys.executable, 'train.py']).wait()\n");
  }
  void configure(const std::string& command, const std::string& more = "") {
    write("run.yaml",
          "programs:\n  run: {command: [" + command + "], backoff: {first: 20ms}" + more + "}\n");
  }
  [[nodiscard]] bool there(const std::string& name) const {
    return std::filesystem::exists(path(name));
  }
  pid_t start_training() {
    const pid_t daemon = start_daemon({"run.yaml"});
    wait_until([&] { return there("up") && state() == "RUNNING"; });
    return daemon;
  }
  void let_it_save() { ASSERT_TRUE(open_file(path("may"), O_WRONLY).has_value()); }
};

std::string name_of(const testing::TestParamInfo<const char*>& info) {
  constexpr std::array names{"AShell", "ALauncher", "Nobody"};
  return names.at(info.index);
}
INSTANTIATE_TEST_SUITE_P(By, StopBehind,
                         testing::Values("sh, run.sh", "python3, launch.py", "python3, train.py"),
                         name_of);

TEST_P(StopBehind, AStopWaitsForTheSave) {
  configure(GetParam());
  start_training();
  const pid_t stop = start({program("trainwardctl"), "stop", "run"});
  wait_until([&] { return there("saving"); });
  let_it_save();
  EXPECT_EQ(end_of(stop), 0) << daemon_log();
  EXPECT_TRUE(there("saved"));
  EXPECT_EQ(attempts().back().cause, "stopped");
}

TEST_P(StopBehind, AndSoDoesTheEndOfTheDaemon) {
  configure(GetParam());
  const pid_t daemon = start_training();
  ::kill(daemon, SIGTERM);
  wait_until([&] { return there("saving"); });
  let_it_save();
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_TRUE(there("saved"));
}

TEST_P(StopBehind, AndARestart) {
  configure(GetParam(), ", stop_signal: INT");
  start_training();
  std::filesystem::remove(path("up"));
  const pid_t restart = start({program("trainwardctl"), "restart", "run"});
  wait_until([&] { return there("saving"); });
  let_it_save();
  wait_until([&] { return there("up"); });
  EXPECT_EQ(end_of(restart), 0) << daemon_log();
  EXPECT_TRUE(there("saved"));
  EXPECT_EQ(attempts().front().cause, "stopped");
}

class StopBehindAShell : public StopBehind {};
INSTANTIATE_TEST_SUITE_P(Only, StopBehindAShell, testing::Values("sh, run.sh"));

TEST_P(StopBehindAShell, WhyNamesWhoWasSaving) {
  configure(GetParam());
  start_training();
  const pid_t stop = start({program("trainwardctl"), "stop", "run"});
  wait_until([&] { return ctl({"status", "run"}).out.find("python3") != std::string::npos; });
  let_it_save();
  EXPECT_EQ(end_of(stop), 0);
  EXPECT_THAT(ctl({"why", "run"}).out, HasSubstr("(python3"));
}

TEST_P(StopBehindAShell, WhoIgnoresItIsKilledAtTheDeadlineAndNamed) {
  configure("sh, run.sh, deaf.py", ", deadlines: {stop: 1s}");
  start_training();
  EXPECT_EQ(ctl({"stop", "run"}).code, 0);
  const std::string why = ctl({"why", "run"}).out;
  EXPECT_THAT(why, HasSubstr("it did not exit in time and was killed"));
  EXPECT_THAT(why, HasSubstr("still running when the time to end was over"));
  EXPECT_EQ(attempts().back().cause, "stopped");
}

// By somebody who does not ask the daemon.
TEST_P(StopBehindAShell, AShellThatSomebodyEndsLeavesTimeToSaveAndStartsAgain) {
  configure(GetParam());
  start_training();
  std::filesystem::remove(path("up"));
  ::kill(worker_pid(), SIGTERM);
  wait_until([&] { return there("saving"); });
  EXPECT_EQ(state(), "STOPPING");
  let_it_save();
  wait_until([&] { return there("up"); });
  EXPECT_TRUE(there("saved"));
  EXPECT_EQ(attempts().front().cause, "try_again");
}

}  // namespace
}  // namespace trainward::e2e
