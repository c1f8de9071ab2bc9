// What the shim owes its worker and its daemon, with real processes.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>

#include "common/wire/notifier.hpp"
#include "shim_fixture.hpp"

namespace trainward {
namespace {

TEST_F(Shim, RecordsIdentityOutputAndExitCode) {
  start_script("echo out; echo err >&2; exit 41");
  EXPECT_EQ(wait(), 0);
  const auto all = records();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].type, "started");
  EXPECT_EQ(all[0].fields.at("nonce").as_string(), spec_.nonce);
  EXPECT_EQ(all[1].type, "exited");
  EXPECT_EQ(all[1].fields.at("code").as_int64(), 41);
  EXPECT_EQ(log(attempt_files::standard_output), "out\n");
  EXPECT_EQ(log(attempt_files::standard_error), "err\n");
}

TEST_F(Shim, RecordsTheSignalThatEndedIt) {
  start_script("kill -SEGV $$");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(records().back().fields.at("signal").as_int64(), SIGSEGV);
}

TEST_F(Shim, ACommandThatDoesNotExistIsNamed) {
  start({"/no/such/command"});
  EXPECT_NE(wait(), 0);
  const auto all = records();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].type, "exec_failed");
  EXPECT_NE(std::string(all[0].fields.at("what").as_string()).find("/no/such/command"),
            std::string::npos);
  EXPECT_FALSE(all[0].fields.at("transient").as_bool());
}

// Whatever it runs out of first on its way: descriptors for journal, socket, logs or pipes.
TEST_F(Shim, WantOfDescriptorsIsNoFaultOfTheCommand) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  int failed = 0;
  for (rlim_t most = 8; most < 24; ++most) {
    std::filesystem::remove(folder() / attempt_files::journal);
    const rlimit tight{most, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    start_script("exit 0");
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    wait();
    for (const JournalRecord& record : records()) {
      if (record.type != "exec_failed") continue;
      ++failed;
      EXPECT_TRUE(record.fields.at("transient").as_bool()) << record.fields.at("what");
      const std::string what(record.fields.at("what").as_string());
      EXPECT_NE(what.find("raise LimitNOFILE="), std::string::npos) << what;
    }
  }
  EXPECT_GT(failed, 0);
}

// Whoever may write above the attempt's folder puts another in its place, with links in it.
class BentFolder : public Shim {
 protected:
  BentFolder() {
    std::filesystem::create_directory(home_ / "attempt");
    EXPECT_TRUE(write_file_durably(home_ / "victim", "untouched", 0600).has_value());
  }
  [[nodiscard]] std::filesystem::path folder() const override { return place_; }
  std::filesystem::path home_ = folder_.path();
  std::filesystem::path place_ = home_ / "attempt";
};

TEST_F(BentFolder, TheShimStaysInTheOneItHolds) {
  spec_.log_max_bytes = 10'000;  // so that files are renamed as well
  start_script("echo first; read x < go; seq 1 20000; exit 3");
  ASSERT_EQ(::mkfifo((place_ / "go").c_str(), 0600), 0);
  await("started");
  until([this] { return log(attempt_files::standard_output) == "first\n"; });
  // At once: a shim that sees no folder makes one.
  std::filesystem::create_directory(home_ / "moved");
  for (const char* name : {"journal.ndjson", "journal.ndjson.1", "journal.ndjson.new", "stdout.log",
                           "stdout.log.new", "stdout.log.1", "stdout.log.index", "worker.sock"}) {
    std::filesystem::create_symlink(home_ / "victim", home_ / "moved" / name);
  }
  ASSERT_EQ(
      ::renameat2(AT_FDCWD, place_.c_str(), AT_FDCWD, (home_ / "moved").c_str(), RENAME_EXCHANGE),
      0);
  const Fd go = open_file(home_ / "moved" / "go", O_WRONLY).value();
  ASSERT_TRUE(write_all(go.get(), "1\n", "go").has_value());
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(read_file(home_ / "victim", 1'000).value(), "untouched");
  EXPECT_TRUE(std::filesystem::is_symlink(place_ / "worker.sock"));
  place_ = home_ / "moved";
  EXPECT_EQ(records().back().fields.at("code").as_int64(), 3);
  EXPECT_TRUE(log(attempt_files::standard_output).ends_with("20000\n"));
  EXPECT_FALSE(std::filesystem::exists(place_ / "worker.sock"));
}

TEST_F(BentFolder, ALinkInItIsNotFollowed) {
  std::filesystem::create_symlink(home_ / "victim", place_ / attempt_files::standard_error);
  start_script("echo outside >&2");
  EXPECT_NE(wait(), 0);
  EXPECT_EQ(records().back().type, "exec_failed");
  EXPECT_EQ(read_file(home_ / "victim", 1'000).value(), "untouched");
}

TEST_F(Shim, PassesSigtermOnAndWaitsForTheWorker) {
  start_script("trap 'echo saved; exit 75' TERM; echo ready; tail -f /dev/null & wait");
  await("started");
  while (log(attempt_files::standard_output) != "ready\n") ::poll(nullptr, 0, 2);
  ::kill(pid_, SIGTERM);
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(log(attempt_files::standard_output), "ready\nsaved\n");
  EXPECT_EQ(records().back().fields.at("code").as_int64(), 75);
  EXPECT_TRUE(records().back().fields.at("asked_to_stop").as_bool());
}

TEST_F(Shim, KillsTheWholeGroupEvenWhenStopped) {
  start_script("tail -f /dev/null & trap '' TERM; kill -STOP $$");
  await("started");
  ::kill(pid_, SIGUSR2);
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(records().back().fields.at("signal").as_int64(), SIGKILL);
}

TEST_F(Shim, HelpersDoNotOutliveTheWorker) {
  start_script("tail -f /dev/null & echo $!; exit 0");
  EXPECT_EQ(wait(), 0);
  const pid_t helper = std::stoi(log(attempt_files::standard_output));
  EXPECT_FALSE(identify(helper).has_value()) << "helper " << helper << " still lives";
}

TEST_F(Shim, ADaemonizedHelperDoesNotEither) {
  start_script("setsid tail -f /dev/null & echo $!; exit 0");
  EXPECT_EQ(wait(), 0);
  const pid_t helper = std::stoi(log(attempt_files::standard_output));
  EXPECT_FALSE(identify(helper).has_value()) << "helper " << helper << " still lives";
}

TEST_F(Shim, IfTheShimDiesTheWorkerDies) {
  start_script("tail -f /dev/null & wait");
  const auto started = await("started");
  const ProcessId worker{static_cast<pid_t>(started.fields.at("pid").as_int64()),
                         static_cast<std::uint64_t>(started.fields.at("start_ticks").as_int64()),
                         std::string(started.fields.at("boot_id").as_string())};
  const Fd fd = open_process(worker).value();
  ::kill(pid_, SIGKILL);
  wait();
  pollfd watched{fd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&watched, 1, 10'000), 1) << "the worker lives on";
}

TEST_F(Shim, EveryLineOfAFloodArrives) {
  start_script("i=0; while [ $i -lt 20000 ]; do echo line-$i; i=$((i+1)); done");
  EXPECT_EQ(wait(), 0);
  std::string expected;
  for (int i = 0; i < 20'000; ++i) expected += "line-" + std::to_string(i) + "\n";
  EXPECT_EQ(log(attempt_files::standard_output), expected);
}

TEST_F(Shim, MessagesAreRecordedInOrderAndGarbageIsNot) {
  // The test itself is the worker's mouth: the socket is announced in the worker's environment.
  start_script("echo $TRAINWARD_SOCKET; trap 'exit 0' TERM; tail -f /dev/null & wait");
  await("started");
  while (log(attempt_files::standard_output).find('\n') == std::string::npos) ::poll(nullptr, 0, 2);
  std::string path = log(attempt_files::standard_output);
  path.pop_back();
  ::setenv(env::socket, path.c_str(), 1);
  const Notifier worker = Notifier::from_environment();
  ::unsetenv(env::socket);
  ASSERT_TRUE(worker.connected());
  worker.send({{"garbage", "\xff"}});
  for (int i = 1; i <= 100; ++i) {
    worker.send({{"STEP", std::to_string(i)}});
    // A datagram queue holds few; wait until this one is in the journal before the next.
    while (records().size() < static_cast<std::size_t>(i) + 1) ::poll(nullptr, 0, 1);
  }
  ::kill(pid_, SIGTERM);
  EXPECT_EQ(wait(), 0);
  const auto all = records();
  ASSERT_EQ(all.size(), 102U);
  EXPECT_EQ(all[100].fields.at("fields").at("STEP").as_string(), "100");
  EXPECT_EQ(all[101].fields.at("code").as_int64(), 0);
}

TEST_F(Shim, AFullDiskDropsLogsNotTheWorker) {
  // A limit on file sizes is a disk that is full for the log and not for the short journal.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{16'384, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  start_script("i=0; while [ $i -lt 9000 ]; do echo line-$i; i=$((i+1)); done; exit 7");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(wait(), 0);
  const auto all = records();
  EXPECT_EQ(all.back().fields.at("code").as_int64(), 7);
  std::int64_t bytes = 0;
  std::int64_t lines = 0;
  for (const JournalRecord& record : all) {
    if (record.type != "dropped") continue;
    bytes += record.fields.at("log_bytes").as_int64();
    lines += record.fields.at("log_lines").as_int64();
    EXPECT_EQ(record.fields.at("why").as_string(), "File too large");
  }
  EXPECT_GT(bytes, 60'000);
  const std::string kept = log(attempt_files::standard_output);
  EXPECT_LE(kept.size(), 16'384U);
  EXPECT_EQ(lines + std::count(kept.begin(), kept.end(), '\n'), 9000);
}

TEST_F(Shim, RecordsWhatTheWorkerCost) {
  start_script("exit 0");
  EXPECT_EQ(wait(), 0);
  const auto exit = records().back();
  for (const char* key : {"user_ms", "system_ms", "max_rss_bytes", "oom_kills", "helpers_killed"}) {
    EXPECT_TRUE(exit.fields.contains(key)) << key;
  }
  EXPECT_GT(exit.fields.at("max_rss_bytes").as_int64(), 100'000);
  EXPECT_EQ(exit.fields.at("helpers_killed").as_int64(), 0);
  EXPECT_FALSE(exit.fields.at("core_dumped").as_bool());
  EXPECT_FALSE(exit.fields.at("asked_to_stop").as_bool());
}

TEST_F(Shim, AWorkerThatClosesItsOutputTrainsOn) {
  start_script("exec >&- 2>&-; trap 'exit 75' TERM; tail -f /dev/null & wait");
  await("started");
  until([this] { return ::kill(pid_, SIGTERM) != 0 || !records().back().type.compare("exited"); });
  wait();
  EXPECT_EQ(records().back().type, "exited");
}

TEST_F(Shim, AHelperThatKeepsThePipeDoesNotHoldTheEndUp) {
  start_script("(setsid sh -c 'trap \"\" TERM HUP; tail -f /dev/null' &) ; echo done");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(log(attempt_files::standard_output), "done\n");
  EXPECT_GT(records().back().fields.at("helpers_killed").as_int64(), 0);
}

TEST_F(Shim, GarbageDatagramsLeaveAReadableJournal) {
  start_script("echo $TRAINWARD_SOCKET; tail -f /dev/null & wait");
  until([this] { return log(attempt_files::standard_output).find('\n') != std::string::npos; });
  std::string path = log(attempt_files::standard_output);
  path.pop_back();
  ::setenv(env::socket, path.c_str(), 1);
  const Notifier worker = Notifier::from_environment();
  ::unsetenv(env::socket);
  worker.send({{"STATUS", "\xff\xfe\x01\" \\ \xc3"}, {"lower", "case"}, {"", ""}});
  worker.send({{"STATUS", std::string(6000, 'x')}});
  worker.send({{"STEP", "7"}});
  until([this] { return records().size() >= 4; });
  ::kill(pid_, SIGUSR2);
  EXPECT_EQ(wait(), 0);
  const auto batch = read_journal(folder() / attempt_files::journal, 0).value();
  EXPECT_EQ(batch.bad_lines, 0);
  EXPECT_EQ(batch.records.at(1).fields.at("fields").as_object().size(), 1U);
  EXPECT_EQ(batch.records.at(3).fields.at("fields").at("STEP").as_string(), "7");
}

TEST_F(Shim, TheWorkerIsNotProtectedFromTheOutOfMemoryKiller) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may lower a process's oom_score_adj";
  spec_.oom_score_adj = 17;
  start_script("cat /proc/self/oom_score_adj");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(log(attempt_files::standard_output), "17\n");
}

TEST_F(Shim, ALaunchFileOfANewerReleaseIsRefused) {
  const auto file = folder() / attempt_files::launch;
  ASSERT_TRUE(write_file_durably(file, R"({"version":5,"argv":["/bin/true"]})", 0600).has_value());
  const auto spec = read_launch_spec(file);
  ASSERT_FALSE(spec.has_value());
  EXPECT_EQ(spec.error().kind, ErrorKind::usage);
  EXPECT_NE(spec.error().message().find("version 5"), std::string::npos);
}

TEST_F(Shim, AJournalOfANewerReleaseIsRefusedAndAnOlderOneIsNot) {
  const auto file = folder() / attempt_files::journal;
  const auto journal = [&](const char* version) {
    const std::string line =
        std::string(R"({"seq":1,"wall_ms":1,"mono_ms":1,"type":"started")") + version + "}\n";
    EXPECT_TRUE(write_file_durably(file, line, 0600).has_value());
    return read_journal(file, 0);
  };
  EXPECT_TRUE(journal(R"(,"version":1)").has_value());
  EXPECT_TRUE(journal(R"(,"version":3)").has_value());
  const auto newer = journal(R"(,"version":4)");
  ASSERT_FALSE(newer.has_value());
  EXPECT_EQ(newer.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace trainward
