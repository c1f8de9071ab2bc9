// trainwardctl against a running daemon, with supervisorctl's messages and exit codes.

#include "world.hpp"

namespace trainward::e2e {
namespace {

class CommandLine : public World {
 protected:
  void SetUp() override {
    write("run.yaml",
          "programs:\n"
          "  run: {command: [/bin/sh, -c, 'echo one; echo two >&2; exec tail -f /dev/null']}\n"
          "  idle: {command: [/usr/bin/tail, -f, /dev/null], autostart: false}\n");
    daemon_ = start_daemon({"run.yaml"});
    worker_pid();
  }
  void TearDown() override {
    if (daemon_ == 0) return;
    ::kill(daemon_, SIGTERM);
    EXPECT_EQ(end_of(daemon_), 0) << daemon_log();
  }
  pid_t daemon_ = 0;
};

TEST_F(CommandLine, StatusNamesEachProgramAndSaysWithItsCodeWhetherAllRun) {
  const Output all = ctl({"status"});
  EXPECT_EQ(all.code, 3) << "idle does not run";
  EXPECT_NE(all.out.find("idle                             STOPPED   Not started"),
            std::string::npos)
      << all.out;
  EXPECT_EQ(ctl({"status", "nope"}).code, 4);
}

TEST_F(CommandLine, StartStopRestartSpeakLikeSupervisorctl) {
  EXPECT_EQ(ctl({"start", "run"}).out, "run: ERROR (already started)\n");
  EXPECT_EQ(ctl({"stop", "idle"}).out, "idle: ERROR (not running)\n");
  EXPECT_EQ(ctl({"start", "idle"}).out, "idle: started\n");
  EXPECT_EQ(ctl({"stop", "all"}).code, 0);
  EXPECT_EQ(state("run"), "STOPPED");
  EXPECT_EQ(state("idle"), "STOPPED");
  const Output unknown = ctl({"start", "nope"});
  EXPECT_EQ(unknown.out, "nope: ERROR (no such process)\n");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_EQ(ctl({"restart", "run"}).code, 0);
  EXPECT_EQ(attempts("run").size(), 2U);
}

TEST_F(CommandLine, AStoppedProgramStaysStoppedOverADaemonsDeath) {
  EXPECT_EQ(ctl({"stop", "run"}).code, 0);
  ::kill(daemon_, SIGKILL);
  end_of(daemon_);
  daemon_ = start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"version"}).code == 0; });
  EXPECT_EQ(state("run"), "STOPPED");
  EXPECT_EQ(attempts("run").size(), 1U);
}

TEST_F(CommandLine, TailShowsEitherStream) {
  wait_until([&] { return ctl({"tail", "run"}).out == "one\n"; });
  EXPECT_EQ(ctl({"tail", "run", "stderr"}).out, "two\n");
  EXPECT_EQ(ctl({"tail", "-2", "run"}).out, "e\n");
  EXPECT_NE(ctl({"tail", "idle"}).code, 0);
}

TEST_F(CommandLine, UpdateAddsAndRemovesPrograms) {
  write("run.yaml",
        "programs:\n  run: {command: [/bin/sh, -c, 'echo one; echo two >&2; exec tail -f "
        "/dev/null']}\n  third: {command: [/usr/bin/tail, -f, /dev/null]}\n");
  const Output reread = ctl({"reread"});
  EXPECT_NE(reread.out.find("third: available"), std::string::npos) << reread.out;
  EXPECT_NE(reread.out.find("idle: disappeared"), std::string::npos) << reread.out;
  EXPECT_EQ(ctl({"update"}).code, 0);
  worker_pid("third");
  EXPECT_EQ(ctl({"status", "idle"}).code, 4);
  EXPECT_EQ(attempts("run").size(), 1U) << "an unchanged program is left alone";
}

TEST_F(CommandLine, ABrokenFileChangesNothing) {
  write("run.yaml", "programs:\n  run: {comand: [x]}\n");
  const Output update = ctl({"update"});
  EXPECT_NE(update.code, 0);
  EXPECT_NE((update.out + update.err).find("did you mean 'command'"), std::string::npos)
      << update.out << update.err;
  EXPECT_EQ(attempts("run").size(), 1U);
  EXPECT_EQ(attempts("run").front().ended_ms, 0);
}

TEST_F(CommandLine, WithoutADaemonTheDatabaseAnswersAndSaysSo) {
  ::kill(daemon_, SIGTERM);
  EXPECT_EQ(end_of(std::exchange(daemon_, 0)), 0);
  const Output status = ctl({"status"});
  EXPECT_EQ(status.code, 3);
  EXPECT_NE(status.err.find("trainwardd is not running"), std::string::npos) << status.err;
  EXPECT_NE(status.out.find("run "), std::string::npos);
  EXPECT_EQ(ctl({"history", "run"}).code, 0);
  EXPECT_NE(ctl({"start", "run"}).code, 0);
}

TEST_F(CommandLine, ShutdownStopsProgramsAndDaemon) {
  EXPECT_EQ(ctl({"shutdown"}).code, 0);
  EXPECT_EQ(end_of(std::exchange(daemon_, 0)), 0);
  EXPECT_EQ(attempts("run").front().cause, "stopped");
}

}  // namespace
}  // namespace trainward::e2e
