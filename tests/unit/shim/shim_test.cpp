// The real shim with real workers (small shell scripts), watched through its journal only.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "common/file.hpp"
#include "common/journal.hpp"
#include "common/launch.hpp"
#include "common/process_id.hpp"
#include "common/protocol.hpp"
#include "temporary_folder.hpp"

namespace trainward {
namespace {

class Shim : public ::testing::Test {
 protected:
  void start(std::vector<std::string> argv) {
    LaunchSpec spec;
    spec.run = "test";
    spec.attempt = 1;
    spec.nonce = "n0";
    spec.argv = std::move(argv);
    spec.environment = {{"PATH", "/usr/bin:/bin"}};
    spec.directory = folder_.path();
    ASSERT_TRUE(write_file_durably(folder_.path() / attempt_files::launch, to_json_text(spec), 0600)
                    .has_value());
    pid_ = ::fork();
    if (pid_ == 0) {
      ::execl(SHIM, SHIM, folder_.path().c_str(), nullptr);
      ::_exit(127);
    }
  }

  void start_script(const std::string& script) { start({"/bin/sh", "-c", script}); }

  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::vector<JournalRecord> records() {
    auto batch = read_journal(folder_.path() / attempt_files::journal, 0);
    return batch ? std::move(batch->records) : std::vector<JournalRecord>{};
  }

  // Polls the journal's growth; bounded by the test's own time limit.
  JournalRecord await(std::string_view type) {
    for (;;) {
      for (JournalRecord& record : records()) {
        if (record.type == type) return std::move(record);
      }
      ::poll(nullptr, 0, 2);
    }
  }

  std::string log(const char* name) {
    return read_file(folder_.path() / name, 64 << 20).value_or("");
  }

  TemporaryFolder folder_;
  pid_t pid_ = 0;
};

TEST_F(Shim, RecordsIdentityOutputAndExitCode) {
  start_script("echo out; echo err >&2; exit 41");
  EXPECT_EQ(wait(), 0);
  const auto all = records();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].type, "started");
  EXPECT_EQ(all[0].fields.at("nonce").as_string(), "n0");
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
}

TEST_F(Shim, PassesSigtermOnAndWaitsForTheWorker) {
  start_script("trap 'echo saved; exit 75' TERM; echo ready; tail -f /dev/null & wait");
  await("started");
  while (log(attempt_files::standard_output) != "ready\n") ::poll(nullptr, 0, 2);
  ::kill(pid_, SIGTERM);
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(log(attempt_files::standard_output), "ready\nsaved\n");
  EXPECT_EQ(records().back().fields.at("code").as_int64(), 75);
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
  std::filesystem::create_symlink("/dev/full", folder_.path() / attempt_files::standard_output);
  start_script("i=0; while [ $i -lt 5000 ]; do echo line-$i; i=$((i+1)); done; exit 7");
  EXPECT_EQ(wait(), 0);
  const auto all = records();
  EXPECT_EQ(all.back().fields.at("code").as_int64(), 7);
  std::int64_t bytes = 0;
  std::int64_t lines = 0;
  for (const JournalRecord& record : all) {
    if (record.type != "dropped") continue;
    bytes += record.fields.at("log_bytes").as_int64();
    lines += record.fields.at("log_lines").as_int64();
    EXPECT_EQ(record.fields.at("why").as_string(), "No space left on device");
  }
  EXPECT_GT(bytes, 40'000);
  EXPECT_EQ(lines, 5000);
}

}  // namespace
}  // namespace trainward
