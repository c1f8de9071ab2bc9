// Journals that are gone, databases of before, leases that are held: one copy of the worker, which
// can be stopped, and nothing that is said of it is wrong.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fstream>

#include "common/os/processes/process_id.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class DamagedState : public World {
 protected:
  // Trains until it is stopped, 10 ms a step, with a checkpoint every five.
  void write_trainer() {
    write("run.yaml", "programs:\n  run:\n    command: [" + program("fault-worker") +
                          ", --steps, '100000', --every, '5', --step-ms, '10']\n"
                          "    watch: {protocol: true}\n    checkpoints: {on_stop: true}\n"
                          "    deadlines: {stop: 20s}\n    backoff: {first: 20ms, max: 100ms}\n"
                          "    budgets: {attempts_without_progress: 3}\n");
  }
  void train_to(std::int64_t step) {
    wait_until([&] { return last_step() >= step; });
  }
  void kill_daemon(pid_t daemon) {
    ::kill(daemon, SIGKILL);
    end_of(daemon);
  }
  [[nodiscard]] fs::path database() const { return path(".trainward/trainward.db"); }
  [[nodiscard]] fs::path journal(int attempt = 1) const {
    return path(fmt::format(".trainward/runs/run/attempts/{:04}/journal.ndjson", attempt));
  }
  void copy_database(const std::string& from, const std::string& to) const {
    for (const char* part : {"", "-wal", "-shm"}) fs::remove(to + part);
    for (const char* part : {"", "-wal"}) {
      std::error_code absent;
      fs::copy_file(from + part, to + part, absent);
    }
  }
  static Fd watch(const store::AttemptRow& attempt) {
    return open_process(identify(static_cast<pid_t>(attempt.pid)).value()).value();
  }
  static bool ended(const Fd& process) {
    pollfd one{process.get(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
  }
  void expect_stopped(const Fd& worker) {
    const Output stopped = ctl({"stop", "run"});
    EXPECT_EQ(stopped.code, 0) << stopped.out << stopped.err << daemon_log();
    EXPECT_TRUE(ended(worker)) << daemon_log();
    EXPECT_THAT(daemon_log(), Not(HasSubstr("unkillable")));
    EXPECT_FALSE(fs::exists(path("second-copy")));
  }
};

// ---- journals ----

struct Damage {
  const char* name;
  void (*inflict)(const fs::path& journal);
};

class LostJournal : public DamagedState, public ::testing::WithParamInterface<Damage> {};

INSTANTIATE_TEST_SUITE_P(
    Ways, LostJournal,
    ::testing::Values(Damage{"deleted", [](const fs::path& file) { fs::remove(file); }},
                      Damage{"emptied", [](const fs::path& file) { fs::resize_file(file, 0); }},
                      Damage{"cut_in_half",
                             [](const fs::path& file) {
                               fs::resize_file(file, fs::file_size(file) / 2);
                             }},
                      Damage{"its_first_bytes",
                             [](const fs::path& file) {
                               std::fstream(file, std::ios::in | std::ios::out)
                                   << std::string(20, 'x');
                             }},
                      Damage{"another_file",
                             [](const fs::path& file) {
                               fs::remove(file);
                               std::ofstream(file) << "{\"seq\":1}\n";
                             }},
                      Damage{"its_folder",
                             [](const fs::path& file) {
                               const auto is = [folder = file.parent_path()] {
                                 struct stat info {};
                                 return ::stat(folder.c_str(), &info) == 0 ? info.st_ino : 0;
                               };
                               std::error_code busy;
                               for (const auto was = is(); is() == was;) {
                                 fs::remove_all(file.parent_path(), busy);
                               }
                             }},
                      Damage{"a_folder",
                             // At once: the worker makes a file that is missing again.
                             [](const fs::path& file) {
                               const fs::path folder = file.string() + ".folder";
                               fs::create_directory(folder);
                               ASSERT_EQ(::renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD,
                                                     file.c_str(), RENAME_EXCHANGE),
                                         0);
                               fs::remove(folder);
                             }}),
    [](const auto& of) { return of.param.name; });

TEST_P(LostJournal, TheWorkerTrainsOnAndItsLaterStepsAreSeen) {
  write_trainer();
  start_daemon({"run.yaml"});
  train_to(12);
  const auto before = attempts().front();
  const Fd worker = watch(before);
  for (const std::int64_t more : {50, 100}) {
    GetParam().inflict(journal());
    train_to(before.last_step + more);
    std::error_code none;
    fs::remove(journal().string() + ".set-aside", none);
  }
  ASSERT_EQ(attempts().size(), 1U) << daemon_log();
  EXPECT_EQ(attempts().front().pid, before.pid);
  EXPECT_EQ(attempts().front().started_ms, before.started_ms);
  expect_stopped(worker);
  EXPECT_EQ(attempts().front().exit_code, 75) << daemon_log();
}

TEST_P(LostJournal, WithoutADaemonTheNextOneSeesTheLaterSteps) {
  write_trainer();
  const pid_t first = start_daemon({"run.yaml"});
  train_to(12);
  const auto before = attempts().front();
  const Fd worker = watch(before);
  kill_daemon(first);
  GetParam().inflict(journal());
  start_daemon({"run.yaml"});
  train_to(before.last_step + 50);
  ASSERT_EQ(attempts().size(), 1U) << daemon_log();
  EXPECT_EQ(attempts().front().pid, before.pid);
  expect_stopped(worker);
  EXPECT_THAT(daemon_log(), Not(HasSubstr("resume_contract")));
}

TEST_P(LostJournal, TheDaemonThatRunsCanStopTheWorker) {
  write_trainer();
  start_daemon({"run.yaml"});
  train_to(12);
  const Fd worker = watch(attempts().front());
  GetParam().inflict(journal());
  expect_stopped(worker);
}

TEST_P(LostJournal, TheNextDaemonTakesTheWorkerOverAndCanStopIt) {
  write_trainer();
  const pid_t first = start_daemon({"run.yaml"});
  train_to(12);
  const Fd worker = watch(attempts().front());
  kill_daemon(first);
  GetParam().inflict(journal());
  start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"version"}).code == 0; });
  expect_stopped(worker);
  EXPECT_EQ(attempts().size(), 1U) << daemon_log();
}

TEST_P(LostJournal, WithTheDatabaseAsWellTheWorkerIsFoundByItsName) {
  write_trainer();
  const pid_t first = start_daemon({"run.yaml"});
  train_to(12);
  const Fd worker = watch(attempts().front());
  kill_daemon(first);
  GetParam().inflict(journal());
  for (const char* part : {"", "-wal", "-shm"}) fs::remove(database().string() + part);
  start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"version"}).code == 0; });
  expect_stopped(worker);
}

TEST_P(LostJournal, ADaemonThatIsAskedToEndEndsTheWorker) {
  write_trainer();
  const pid_t daemon = start_daemon({"run.yaml"});
  train_to(12);
  const Fd worker = watch(attempts().front());
  GetParam().inflict(journal());
  EXPECT_EQ(ctl({"reload"}).code, 0);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_TRUE(ended(worker)) << daemon_log();
}

// ---- databases of before ----

TEST_F(DamagedState, ADatabaseOfBeforeTakesOverTheWorkerThatLives) {
  write_trainer();
  const pid_t first = start_daemon({"run.yaml"});
  train_to(12);
  const std::string backup = path("backup.db").string();
  copy_database(database().string(), backup);
  for (const std::size_t next : {2U, 3U}) {
    ::kill(worker_pid(), SIGKILL);
    wait_until([&] { return attempts().size() == next && last_step() > 20 * std::int64_t(next); });
  }
  const auto before = attempts();
  const Fd worker = watch(before.back());
  kill_daemon(first);
  copy_database(backup, database().string());
  start_daemon({"run.yaml"});
  wait_until([&] { return attempts().size() == 3 && last_step() > before.back().last_step + 20; });
  const auto after = attempts();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(after[i].pid, before[i].pid);
    EXPECT_EQ(after[i].nonce, before[i].nonce);
    EXPECT_EQ(after[i].cause, before[i].cause);
    EXPECT_EQ(after[i].resume_step, before[i].resume_step);
  }
  EXPECT_THAT(daemon_log(), HasSubstr("was older than 2 attempts"));
  expect_stopped(worker);
}

TEST_F(DamagedState, AnOffsetBeyondTheJournalCostsWhatLiesBetweenAndNoWorker) {
  write_trainer();
  const pid_t first = start_daemon({"run.yaml"});
  train_to(12);
  const Fd worker = watch(attempts().back());
  kill_daemon(first);
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(database().c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(raw, "update attempts set journal_offset = journal_offset + 777777",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(raw);
  const std::int64_t before = last_step();
  start_daemon({"run.yaml"});
  train_to(before + 50);
  EXPECT_EQ(attempts().size(), 1U);
  EXPECT_THAT(daemon_log(), HasSubstr("ends before the place that it was read to"));
  expect_stopped(worker);
  EXPECT_TRUE(attempts().back().exit_code);
}

TEST_F(DamagedState, ADatabaseOfBeforeGivesNoNumberTwice) {
  write_trainer();
  const pid_t first = start_daemon({"run.yaml"});
  train_to(12);
  const std::string backup = path("backup.db").string();
  copy_database(database().string(), backup);
  ::kill(worker_pid(), SIGKILL);
  wait_until([&] { return attempts().size() == 2 && last_step() > 40; });
  const auto before = attempts();
  const Fd worker = watch(before.back());
  kill_daemon(first);
  ::kill(static_cast<pid_t>(before.back().pid), SIGKILL);
  wait_until([&] { return ended(worker); });
  copy_database(backup, database().string());
  start_daemon({"run.yaml"});
  wait_until([&] { return attempts().size() == 3 && attempts().back().first_step > 0; });
  const auto after = attempts();
  EXPECT_EQ(after[1].nonce, before[1].nonce);
  EXPECT_EQ(after[1].cause, "killed");
  EXPECT_EQ(after[2].first_step, after[2].resume_step + 1);
  EXPECT_GE(after[2].resume_step, before[1].kept_step);
  EXPECT_EQ(ctl({"stop", "run"}).code, 0);
  EXPECT_THAT(daemon_log(), Not(HasSubstr("resume_contract")));
}

// ---- leases ----

TEST_F(DamagedState, ALeaseThatIsHeldIsWaitedForAndCostsNoAttempt) {
  write_trainer();
  ASSERT_TRUE(make_folders(path(".trainward/leases")));
  Fd lease(
      ::open(path(".trainward/leases/program-run").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640));
  ASSERT_EQ(::flock(lease.get(), LOCK_EX | LOCK_NB), 0);
  start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"status"}).out.find("is held by") != std::string::npos; });
  // Several looks later.
  wait_until([&] {
    const auto store = store::Store::open_read_only(database());
    const auto row = store ? store->program("run").value_or(std::nullopt) : std::nullopt;
    return row && row->core_state.find("\"not_ready\":4") != std::string::npos;
  });
  EXPECT_TRUE(attempts().empty());
  lease.reset();
  train_to(3);
  EXPECT_EQ(attempts().front().number, 1);
  expect_stopped(watch(attempts().front()));
}

TEST_F(DamagedState, AFolderInTheLeasesPlaceIsNamed) {
  write_trainer();
  ASSERT_TRUE(make_folders(path(".trainward/leases/program-run")));
  start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"status"}).out.find("is a folder") != std::string::npos; });
  EXPECT_TRUE(attempts().empty());
  fs::remove(path(".trainward/leases/program-run"));
  train_to(3);
  expect_stopped(watch(attempts().front()));
}

// ---- a database that refuses for good ----

TEST_F(DamagedState, ADatabaseThatTakesNothingMoreIsMadeAnewWhileTheWorkerTrains) {
  write_trainer();
  const pid_t daemon = start_daemon({"run.yaml"});
  train_to(12);
  const auto before = attempts().front();
  const Fd worker = watch(before);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(database().c_str(), &db), SQLITE_OK);
  sqlite3_busy_timeout(db, 5'000);
  ASSERT_EQ(sqlite3_exec(db, "drop table step_buckets", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  wait_until([&] { return daemon_log().find("back from the journals") != std::string::npos; });
  const std::int64_t seen = before.last_step;
  train_to(seen + 20);
  ASSERT_EQ(attempts().size(), 1U) << daemon_log();
  EXPECT_EQ(attempts().front().pid, before.pid);
  EXPECT_EQ(attempts().front().nonce, before.nonce);
  EXPECT_THAT(ctl({"events", "run"}).out + ctl({"events"}).out, HasSubstr("set aside as"));
  expect_stopped(worker);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
}

// ---- who could bend the way ----

class BentPlace : public DamagedState {
 protected:
  void SetUp() override {
    if (::getuid() != 0) GTEST_SKIP() << "only root can start programs as somebody else";
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
    write("run.yaml",
          "programs:\n  run: {command: [/usr/bin/true], user: nobody, autorestart: never}\n");
  }
};

TEST_F(BentPlace, AStateFolderBelowAUsersFolderIsRefusedWithTheCommandThatMendsIt) {
  ASSERT_TRUE(make_folders(path("home/theirs")));
  for (const char* passed : {"home", "home/theirs"}) ::chmod(path(passed).c_str(), 0755);
  ASSERT_EQ(::chown(path("home").c_str(), 65534, 65534), 0);
  const std::string state = path("home/theirs/state").string();
  const Output refused = run("trainwardd", {"--once", "run.yaml", "--set", "state_dir=" + state});
  EXPECT_EQ(refused.code, 78);
  EXPECT_THAT(refused.err, HasSubstr("belongs to user nobody (65534)"));
  EXPECT_THAT(refused.err, Not(HasSubstr("chown"))) << "it is a user's home";
  EXPECT_THAT(refused.err, HasSubstr("`state_dir: /var/lib/trainward`"));
  EXPECT_THAT(refused.err, HasSubstr("or run trainwardd as nobody, without `user:`"));
  EXPECT_FALSE(fs::exists(state));
  ASSERT_EQ(::chown(path("home").c_str(), 0, 0), 0);
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml", "--set", "state_dir=" + state}).code, 0);
}

TEST_F(BentPlace, AConfigurationThatOthersMayReplaceIsRefused) {
  ASSERT_TRUE(make_folders(path("shared")));
  fs::rename(path("run.yaml"), path("shared/run.yaml"));
  ASSERT_EQ(::chown(path("shared").c_str(), 0, 12345), 0);
  ASSERT_EQ(::chmod(path("shared").c_str(), 0775), 0);
  const Output refused = run("trainwardd", {"--check", "shared/run.yaml"});
  EXPECT_EQ(refused.code, 78);
  EXPECT_THAT(refused.err, HasSubstr("`chmod go-w " + path("shared").string() + "`"));
}

TEST_F(BentPlace, WhatRootRunsAndWhereItListensIsRootsAlone) {
  ASSERT_TRUE(make_folders(path("home")));
  write("home/probe.sh", "#!/bin/sh\n");
  ASSERT_EQ(::chown(path("home").c_str(), 65534, 65534), 0);
  const std::string program =
      "programs:\n  run: {command: [/usr/bin/true], user: nobody, autorestart: never";
  const std::string script = path("home/probe.sh").string();
  for (const std::string& text :
       {program + ", board: {mesh_shape: [1, 1]}, probe_command: [/bin/sh, " + script + "]}\n",
        program + ", board: {mesh_shape: [1, 1]}, reset_command: [" + script + "]}\n",
        "notify: {channels: {c: {command: [" + script + "]}}}\n" + program + "}\n",
        "socket: " + path("home/t.sock").string() + "\n" + program + "}\n"}) {
    write("run.yaml", text);
    const Output refused = run("trainwardd", {"--check", "run.yaml"});
    EXPECT_EQ(refused.code, 78) << text;
    EXPECT_THAT(refused.err, HasSubstr("belongs to user nobody")) << text;
  }
}

TEST_F(BentPlace, ASecretOfSomebodyElseIsRefused) {
  write("token", "0123456789012345678901234567890123456789");
  ASSERT_EQ(::chmod(path("token").c_str(), 0600), 0);
  ASSERT_EQ(::chown(path("token").c_str(), 65534, 65534), 0);
  write("run.yaml",
        "tokens: {viewer: token}\nprograms:\n  run: {command: [/usr/bin/true], autorestart: "
        "never}\n");
  const Output refused = run("trainwardd", {"--check", "run.yaml"});
  EXPECT_EQ(refused.code, 78);
  EXPECT_THAT(refused.err, HasSubstr("belongs to user nobody"));
  EXPECT_THAT(refused.err, Not(HasSubstr("0123456789")));
}

}  // namespace
}  // namespace trainward::e2e
