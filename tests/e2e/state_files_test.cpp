// What lies in the state folder and is not what it should be, with the real daemon: a worker's
// pipes, a folder that goes, rights that are too wide, somebody else's triggers, secrets.
#include <sys/stat.h>

#include "common/wire/launch.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

using store::Connection;

class StateFiles : public World {
 protected:
  static std::string sleeper(const std::string& before = "") {
    return "    command: [sh, -c, '" + before +
           "echo $$ > $TRAINWARD_RUN.pid; echo > $TRAINWARD_RUN.up; exec sleep 1000']\n"
           "    directory: .\n    deadlines: {stop: 10s}\n";
  }
  void wait_for_file(const std::string& name) {
    wait_until([&] { return std::filesystem::exists(path(name)); });
  }
  bool lives(const std::string& program) {
    const std::string pid = read_file(path(program + ".pid"), 100).value_or("0");
    return ::kill(std::stoi(pid), 0) == 0;
  }
  void wait_until_it_answers() {
    wait_until([this] { return ctl({"pid"}).code == 0; });
  }
  [[nodiscard]] std::filesystem::path attempt(const std::string& program) const {
    return path(".trainward/runs") / program / "attempts/0001";
  }
  unsigned mode(const std::filesystem::path& of) {
    struct stat info {};
    EXPECT_EQ(::lstat(of.c_str(), &info), 0) << of;
    return info.st_mode & 07777U;
  }
};

TEST_F(StateFiles, PipesInPlaceOfJournalAndLogsStopNobody) {
  write("t.yaml",
        "programs:\n  good:\n" + sleeper() + "  bad:\n" +
            sleeper("d=$(dirname $TRAINWARD_SOCKET); for f in journal.ndjson stdout.log "
                    "stdout.log.index launch.json shim.log; do mkfifo $d/x && mv $d/x $d/$f; done; "
                    "mkfifo $TRAINWARD_CHECKPOINT_DIR/latest; "));
  const pid_t first = start_daemon({"t.yaml"});
  wait_for_file("good.up");
  wait_for_file("bad.up");
  ASSERT_TRUE(std::filesystem::is_fifo(attempt("bad") / attempt_files::journal));
  EXPECT_NE(ctl({"status"}).out.find("bad"), std::string::npos);
  const Output tail = ctl({"tail", "bad"});
  EXPECT_NE((tail.out + tail.err).find("is a pipe, not a file"), std::string::npos)
      << tail.out << tail.err;
  ::kill(first, SIGKILL);
  EXPECT_EQ(end_of(first), -SIGKILL);

  const pid_t second = start_daemon({"t.yaml"});
  wait_until_it_answers();
  EXPECT_TRUE(lives("good"));
  EXPECT_TRUE(lives("bad"));
  // The journal that would name the shim is none, and it is found and told all the same.
  ::kill(second, SIGTERM);
  EXPECT_EQ(end_of(second), 0) << daemon_log();
  EXPECT_FALSE(lives("good"));
  EXPECT_FALSE(lives("bad"));
}

TEST_F(StateFiles, AFolderThatGoesIsSaidAndEndsDaemonAndWorkers) {
  for (const bool deleted : {false, true}) {
    SCOPED_TRACE(deleted);
    write("t.yaml", "programs:\n  good:\n" + sleeper());
    const pid_t daemon = start_daemon({"t.yaml"});
    wait_for_file("good.up");
    std::error_code error;
    if (deleted) {
      while (std::filesystem::exists(path(".trainward"), error)) {
        std::filesystem::remove_all(path(".trainward"), error);
      }
    } else {
      std::filesystem::rename(path(".trainward"), path("moved"));
    }
    EXPECT_EQ(end_of(daemon), 1);
    EXPECT_NE(daemon_log().find("the state folder was deleted or moved"), std::string::npos)
        << daemon_log();
    EXPECT_FALSE(lives("good"));
    std::filesystem::remove(path("good.up"));
    std::filesystem::remove(path("daemon.log"));
  }
}

TEST_F(StateFiles, NothingIsOpenToOthersWhateverTheUmask) {
  write("t.yaml", "programs:\n  good:\n" + sleeper());
  const mode_t before = ::umask(0);
  const pid_t daemon = start_daemon({"t.yaml"});
  ::umask(before);
  wait_for_file("good.up");
  wait_until_it_answers();
  EXPECT_EQ(mode(path(".trainward")), 0750U);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path(".trainward"))) {
    EXPECT_EQ(mode(entry.path()) & 07U, 0U) << entry.path();
    if (entry.is_directory()) {
      EXPECT_EQ(mode(entry.path()), 0750U) << entry.path();
    }
  }
  EXPECT_EQ(mode(path("good.up")), 0640U);  // the worker's own files too
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

TEST_F(StateFiles, WhatEverybodyMayWriteIsRefused) {
  write("t.yaml", "programs:\n  good:\n" + sleeper());
  EXPECT_EQ(run("trainwardd", {"--check", "t.yaml"}).code, 0);
  ASSERT_EQ(::chmod(path("t.yaml").c_str(), 0666), 0);
  for (const auto& said :
       {run("trainwardd", {"--check", "t.yaml"}), run("trainwardd", {"t.yaml"})}) {
    EXPECT_EQ(said.code, 78);
    EXPECT_NE(said.err.find("`chmod o-w "), std::string::npos) << said.err;
  }
  const Output checked = ctl({"config", "check", "t.yaml"});
  EXPECT_NE(checked.code, 0);
  EXPECT_NE(checked.out.find("`chmod o-w "), std::string::npos) << checked.out;
  ASSERT_EQ(::chmod(path("t.yaml").c_str(), 0640), 0);
  ASSERT_TRUE(make_folders(path(".trainward")));
  ASSERT_EQ(::chmod(path(".trainward").c_str(), 0777), 0);
  const Output folder = run("trainwardd", {"--check", "t.yaml"});
  EXPECT_EQ(folder.code, 78);
  EXPECT_NE(folder.err.find(".trainward"), std::string::npos) << folder.err;
}

TEST_F(StateFiles, AConfigurationFromAPipeIsCheckedAndOneThatBecomesAPipeIsNotWaitedFor) {
  write("t.yaml", "programs:\n  good:\n" + sleeper());
  const pid_t check = start({"/bin/bash", "-c", program("trainwardd") + " --check <(cat t.yaml)"});
  EXPECT_EQ(end_of(check), 0) << daemon_log();
  const pid_t daemon = start_daemon({"t.yaml"});
  wait_for_file("good.up");
  wait_until_it_answers();
  std::filesystem::remove(path("t.yaml"));
  ASSERT_EQ(::mkfifo(path("t.yaml").c_str(), 0600), 0);
  const Output update = ctl({"update"});
  EXPECT_NE((update.out + update.err).find("is a pipe, not a file"), std::string::npos)
      << update.out << update.err;
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

TEST_F(StateFiles, AForeignTriggerIsRefusedByStartAndCheck) {
  write("t.yaml", "programs:\n  good:\n    command: ['true']\n");
  ASSERT_EQ(run("trainwardd", {"--once", "t.yaml"}).code, 0);
  {
    auto opened = Connection::open(path(".trainward/trainward.db"), Connection::Mode::read_write);
    ASSERT_TRUE(opened);
    ASSERT_TRUE((*opened)->script(
        "create trigger theirs after insert on events begin delete from attempts; end"));
  }
  for (const char* option : {"--check", "--once"}) {
    const Output refused = run("trainwardd", {option, "t.yaml"});
    EXPECT_NE(refused.code, 0);
    EXPECT_NE(refused.err.find("a trigger that is not Trainward's: theirs on events"),
              std::string::npos)
        << refused.err;
    EXPECT_NE(refused.err.find("drop trigger"), std::string::npos);
  }
}

TEST_F(StateFiles, APipeInPlaceOfTheRunDatabaseIsSetAside) {
  write("t.yaml", "programs:\n  good:\n    command: ['true']\n");
  ASSERT_EQ(run("trainwardd", {"--once", "t.yaml"}).code, 0);
  std::filesystem::remove(path(".trainward/trainward.db"));
  ASSERT_EQ(::mkfifo(path(".trainward/trainward.db").c_str(), 0600), 0);
  EXPECT_NE(ctl({"status"}).code, 0);
  EXPECT_EQ(run("trainwardd", {"--once", "t.yaml"}).code, 0);
  EXPECT_EQ(attempts("good").size(), 1U);  // back from the journals
}

TEST_F(StateFiles, LaunchFilesOfEndedAttemptsKeepNoSecrets) {
  write("t.yaml",
        "programs:\n  good:\n    command: [sh, -c, 'exit 0', --token=hunter1]\n"
        "    environment: {TOKEN: hunter2}\n");
  ASSERT_EQ(run("trainwardd", {"--once", "t.yaml"}).code, 0);
  const auto file = attempt("good") / attempt_files::launch;
  EXPECT_EQ(read_file(file, 1 << 20).value().find("hunter"), std::string::npos);
  EXPECT_EQ(mode(file), 0640U);
  // As an earlier version left it: shortened when a daemon starts.
  LaunchSpec spec = read_launch_spec(file).value();
  spec.shortened = false;
  spec.environment["TOKEN"] = "hunter3";
  ASSERT_TRUE(write_file_durably(file, to_json_text(spec), 0600));
  const pid_t daemon = start_daemon({"t.yaml"});
  wait_until([&] { return mode(file) == 0640U; });
  EXPECT_EQ(read_file(file, 1 << 20).value().find("hunter"), std::string::npos);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

}  // namespace
}  // namespace trainward::e2e
