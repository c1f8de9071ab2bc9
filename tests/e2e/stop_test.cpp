// Whoever asks for an end gets one: with a database that refuses, with a shim that is stopped, by
// signals of every kind and number.

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common/base/json/json.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

class Stop : public World {
 protected:
  // Trains on until SIGTERM, then says that it saves, and saves when it may.
  void write_saver() {
    ASSERT_EQ(::mkfifo(path("may").c_str(), 0600), 0);
    write(
        "run.yaml",
        "programs:\n  run: {command: [/bin/sh, -c, 'trap \"echo > saving; read x < may; echo > "
        "saved; exit 75\" TERM; echo > up; tail -f /dev/null & wait'], backoff: {first: 20ms}}\n");
  }
  // Saves at once.
  void write_worker(const std::string& deadlines = "{stop: 60s}") {
    write("run.yaml",
          "programs:\n  run:\n    command: [/bin/sh, -c, 'trap \"echo > saved; exit 75\" TERM; "
          "echo > "
          "up; tail -f /dev/null & wait']\n    deadlines: " +
              deadlines + "\n    backoff: {first: 20ms}\n");
  }
  // Says its first word and then nothing: a hang after train_floor.
  void write_hanging() {
    write("hang.py",
          "import os, signal, socket\n"
          "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
          "for n in range(1, 4):\n"
          "    s.sendto(b'PHASE=train\\nSTEP=%d\\nLOSS=1' % n, os.environ['TRAINWARD_SOCKET'])\n"
          "while True: signal.pause()\n");
    write("run.yaml",
          "programs:\n  run:\n    command: [python3, hang.py]\n    watch: {protocol: true}\n"
          "    deadlines: {train_floor: 2s, load: 2s, stop: 60s}\n    backoff: {first: 60s}\n");
  }
  bool has_python() { return end_of(start({"/usr/bin/env", "python3", "-c", ""})) == 0; }
  [[nodiscard]] bool there(const std::string& name) const {
    return std::filesystem::exists(path(name));
  }
  static bool lives(pid_t pid) { return ::kill(pid, 0) == 0; }
  // From now on no file of the daemon's can grow, as on a full disk.
  static void fill_disk(pid_t daemon, bool full) {
    const rlimit limit{full ? 0 : RLIM_INFINITY, RLIM_INFINITY};
    ASSERT_EQ(::prlimit(daemon, RLIMIT_FSIZE, &limit, nullptr), 0);
  }
  std::string trouble() {
    auto rows = parse_json(ctl({"--json", "status", "run"}).out, "status");
    if (!rows) return {};
    const json::value* row = rows->is_array() ? &rows->get_array()[0] : &*rows;
    return string_or(row->as_object(), "trouble", "");
  }
  pid_t shim_of(pid_t worker) {
    std::string stat = read_file("/proc/" + std::to_string(worker) + "/stat", 4096).value();
    stat = stat.substr(stat.rfind(')') + 4);
    return static_cast<pid_t>(std::stol(stat));
  }
};

TEST_F(Stop, AFullDiskDoesNotKeepSigtermFromTheWorker) {
  write_worker();
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  worker_pid();
  wait_until([&] { return there("up"); });
  fill_disk(daemon, true);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 75) << daemon_log();
  EXPECT_TRUE(there("saved"));
  // The next daemon reads in the journal how it ended.
  std::filesystem::remove(path("up"));
  const pid_t next = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return there("up"); });
  ::kill(next, SIGTERM);
  EXPECT_EQ(end_of(next), 75) << daemon_log();
  EXPECT_EQ(attempts().front().exit_code, 75);
}

TEST_F(Stop, AStopWhileTheDatabaseRefusesEndsTheWorkerAndIsRecordedLater) {
  write_worker();
  const pid_t daemon = start_daemon({"run.yaml"});
  const pid_t pid = worker_pid();
  wait_until([&] { return there("up"); });
  fill_disk(daemon, true);
  const Output stopped = ctl({"stop", "run"});
  EXPECT_EQ(stopped.code, 0) << stopped.out << stopped.err << daemon_log();
  EXPECT_TRUE(there("saved"));
  EXPECT_FALSE(lives(pid));
  EXPECT_EQ(state(), "RUNNING") << "nothing could be written";
  EXPECT_THAT(trouble(), testing::HasSubstr("the run database has refused what happens"));
  EXPECT_NE(ctl({"start", "run"}).code, 0) << "it is not started yet";
  fill_disk(daemon, false);
  wait_until([&] { return attempts().size() == 2 && state() == "RUNNING"; });
  EXPECT_EQ(attempts().front().exit_code, 75);
  EXPECT_EQ(attempts().front().cause, "stopped");
  EXPECT_EQ(trouble(), "");
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

TEST_F(Stop, AHangIsEndedWhileTheDatabaseRefuses) {
  if (!has_python()) GTEST_SKIP() << "python3 is not here";
  write_hanging();
  const pid_t daemon = start_daemon({"run.yaml"});
  const pid_t pid = worker_pid();
  wait_until([&] { return last_step() >= 1; });
  fill_disk(daemon, true);
  wait_until([&] { return !lives(pid); });
  fill_disk(daemon, false);
  wait_until([&] { return state() == "BACKOFF"; });
  EXPECT_EQ(attempts().back().cause, "hang");
}

TEST_F(Stop, AStoppedShimIsNamedAndItsWorkerIsEndedAllTheSame) {
  if (!has_python()) GTEST_SKIP() << "python3 is not here";
  write_hanging();
  start_daemon({"run.yaml"});
  const pid_t pid = worker_pid();
  wait_until([&] { return last_step() >= 1; });
  ::kill(shim_of(pid), SIGSTOP);
  wait_until([&] { return !lives(pid); });
  wait_until([&] { return state() == "BACKOFF"; });
  EXPECT_EQ(attempts().back().cause, "hang");
  const std::string why = ctl({"why", "run", "1"}).out;
  EXPECT_THAT(why, testing::HasSubstr("is stopped by a signal (state T)")) << why;
  EXPECT_THAT(why, testing::Not(testing::HasSubstr("unkillable"))) << why;
}

TEST_F(Stop, AStopReachesTheWorkerOfAStoppedShim) {
  write_worker();
  start_daemon({"run.yaml"});
  const pid_t pid = worker_pid();
  wait_until([&] { return there("up"); });
  ::kill(shim_of(pid), SIGSTOP);
  const Output status = ctl({"status", "run"});
  EXPECT_THAT(trouble(), testing::HasSubstr("is stopped by a signal"));
  EXPECT_EQ(ctl({"stop", "run"}).code, 0);
  EXPECT_TRUE(there("saved"));
}

TEST_F(Stop, ASecondSigtermChangesNothingWhileTheWorkerSaves) {
  write_saver();
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  worker_pid();
  wait_until([&] { return there("up"); });
  ask_to_end(daemon);
  wait_until([&] { return there("saving"); });
  for (const int number : {SIGTERM, SIGHUP, SIGTERM, SIGUSR1, SIGQUIT}) ::kill(daemon, number);
  wait_until([&] { return daemon_log().find("asked to stop once more") != std::string::npos; });
  ASSERT_TRUE(open_file(path("may"), O_WRONLY).has_value());
  EXPECT_EQ(end_of(daemon), 75) << daemon_log();
  EXPECT_TRUE(there("saved"));
}

TEST_F(Stop, AStopThatALaterStartOvertakesIsAnswered) {
  write_saver();
  const pid_t daemon = start_daemon({"run.yaml"});
  worker_pid();
  wait_until([&] { return there("up"); });
  const pid_t stop = start({program("trainwardctl"), "stop", "run"});
  wait_until([&] { return there("saving"); });
  const pid_t again = start({program("trainwardctl"), "start", "run"});
  EXPECT_NE(end_of(stop), 0) << "it does not rest";
  EXPECT_THAT(daemon_log(), testing::HasSubstr("run: ERROR (started again)"));
  ASSERT_TRUE(open_file(path("may"), O_WRONLY).has_value());
  EXPECT_EQ(end_of(again), 0) << daemon_log();
  EXPECT_EQ(attempts().size(), 2U);
  ask_to_end(daemon);
  ASSERT_TRUE(open_file(path("may"), O_WRONLY).has_value());
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

TEST_F(Stop, ARestartIsFinishedByTheNextDaemon) {
  write_saver();
  const pid_t daemon = start_daemon({"run.yaml"});
  worker_pid();
  wait_until([&] { return there("up"); });
  const pid_t restart = start({program("trainwardctl"), "restart", "run"});
  wait_until([&] { return there("saving"); });
  ::kill(daemon, SIGKILL);
  end_of(daemon);
  EXPECT_NE(end_of(restart), 0) << "it cannot know";
  ASSERT_TRUE(open_file(path("may"), O_WRONLY).has_value());
  std::filesystem::remove(path("up"));
  const pid_t next = start_daemon({"run.yaml"});
  wait_until([&] { return there("up"); });
  EXPECT_EQ(attempts().size(), 2U);
  ::kill(next, SIGTERM);
  ASSERT_TRUE(open_file(path("may"), O_WRONLY).has_value());
  EXPECT_EQ(end_of(next), 0) << daemon_log();
}

TEST_F(Stop, NothingIsStartedOnceTheEndWasAskedFor) {
  write_saver();
  const pid_t daemon = start_daemon({"run.yaml"});
  worker_pid();
  wait_until([&] { return there("up"); });
  ask_to_end(daemon);
  wait_until([&] { return there("saving"); });
  const Output refused = ctl({"start", "run"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.out + refused.err, testing::HasSubstr("is shutting down"));
  ASSERT_TRUE(open_file(path("may"), O_WRONLY).has_value());
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_EQ(attempts().size(), 1U);
}

TEST_F(Stop, ASecondInterruptDoesNotWaitForTheSave) {
  write_saver();
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  const pid_t pid = worker_pid();
  wait_until([&] { return there("up"); });
  ::kill(daemon, SIGINT);
  wait_until([&] { return there("saving"); });
  ::kill(daemon, SIGINT);
  EXPECT_EQ(end_of(daemon), 75) << daemon_log();
  EXPECT_FALSE(lives(pid));
  EXPECT_FALSE(there("saved"));
  EXPECT_EQ(attempts().back().exit_signal, SIGKILL);
}

TEST_F(Stop, AWarningOfTheSchedulerEndsOnceLikeSigterm) {
  write_worker();
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  worker_pid();
  wait_until([&] { return there("up"); });
  ::kill(daemon, SIGUSR1);
  EXPECT_EQ(end_of(daemon), 75) << daemon_log();
  EXPECT_TRUE(there("saved"));
}

TEST_F(Stop, OnceIsDoneWhenAllThatItStartedIs) {
  write("run.yaml",
        "programs:\n  run: {command: [/bin/true]}\n"
        "  later: {command: [/bin/true], autostart: false}\n");
  EXPECT_EQ(end_of(start_daemon({"--once", "run.yaml"})), 0) << daemon_log();
  EXPECT_TRUE(attempts("later").empty());
}

TEST_F(Stop, AServiceOnlyNotesSignalsThatMeanNothingToIt) {
  write_worker();
  const pid_t daemon = start_daemon({"run.yaml"});
  const pid_t pid = worker_pid();
  wait_until([&] { return there("up"); });
  ::kill(daemon, SIGUSR1);
  ::kill(daemon, SIGUSR2);
  wait_until([&] {
    return daemon_log().find("SIGUSR1 means nothing") != std::string::npos &&
           daemon_log().find("SIGUSR2 means nothing") != std::string::npos;
  });
  EXPECT_TRUE(lives(pid));
  EXPECT_EQ(state(), "RUNNING");
}

// One program's folder holds up nobody else.
TEST_F(Stop, PipesInTheCheckpointsOfOneProgramHoldUpNobodyElse) {
  if (!has_python()) GTEST_SKIP() << "python3 is not here";
  write("bad.py",
        "import os\nck = os.environ['TRAINWARD_CHECKPOINT_DIR']\n"
        "for name in ('latest', 'step-00000004/MANIFEST.json'):\n"
        "    os.makedirs(os.path.dirname(os.path.join(ck, name)), exist_ok=True)\n"
        "    if not os.path.exists(os.path.join(ck, name)): os.mkfifo(os.path.join(ck, name))\n"
        "raise SystemExit(1)\n");
  write(
      "run.yaml",
      "programs:\n  bad: {command: [python3, bad.py], backoff: {first: 20ms}}\n"
      "  run: {command: [/bin/sh, -c, 'exit 1'], backoff: {first: 20ms}, budgets: {attempts: 100, "
      "attempts_without_progress: 100}}\n");
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return attempts("bad").size() >= 2; });
  const std::size_t seen = attempts().size();
  wait_until([&] { return attempts().size() >= seen + 2 && attempts()[seen].ended_ms > 0; });
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

}  // namespace
}  // namespace trainward::e2e
