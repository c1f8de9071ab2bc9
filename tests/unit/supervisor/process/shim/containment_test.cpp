// Nothing a worker started outlives it, whatever means the host offers.

#include <algorithm>
#include <csignal>
#include <fstream>

#include "common/protocol/protocol.hpp"
#include "shim_fixture.hpp"
#include "supervisor/process/containment/containment_host.hpp"

namespace trainward {
namespace {

class Containment : public Shim, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { spec_.containment = GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Means, Containment,
                         ::testing::Values("auto", "cgroup2", "cgroup1", "none"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Containment, NoHelperOutlivesTheWorker) {
  // In its group, in a session of its own, and orphaned by a double fork.
  start_script(
      "tail -f /dev/null & echo $!; setsid tail -f /dev/null & echo $!;"
      "(setsid sh -c 'tail -f /dev/null & echo $!; exec tail -f /dev/null' &);"
      "while [ $(wc -l < stdout.log) -lt 3 ]; do :; done; exit 5");
  EXPECT_EQ(wait(), 0);
  const auto exit = records().back();
  EXPECT_EQ(exit.fields.at("code").as_int64(), 5);
  EXPECT_GE(exit.fields.at("helpers_killed").as_int64(), 4);
  std::ifstream pids(folder() / attempt_files::standard_output);
  int seen = 0;
  for (pid_t pid = 0; pids >> pid; ++seen) EXPECT_FALSE(lives(pid)) << pid;
  EXPECT_EQ(seen, 3);
}

// Each dies and leaves the next one to the shim, which may be looking right then.
TEST_P(Containment, NobodyOfALongLineOfSessionsOutlivesTheWorker) {
  std::ofstream(folder() / "line.sh") << "echo $$\nif [ $1 -gt 0 ]; then setsid sh line.sh $(($1 - "
                                         "1)) & fi\nexec tail -f /dev/null\n";
  start_script("setsid sh line.sh 39 & while [ $(wc -l < stdout.log) -lt 40 ]; do :; done; exit 5");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(records().back().fields.at("code").as_int64(), 5);
  std::ifstream pids(folder() / attempt_files::standard_output);
  int seen = 0;
  for (pid_t pid = 0; pids >> pid; ++seen) EXPECT_FALSE(lives(pid)) << pid;
  EXPECT_EQ(seen, 40);
}

TEST_P(Containment, TheGroupIsGoneAfterwards) {
  start_script("exit 0");
  EXPECT_EQ(wait(), 0);
  const auto started = records().front();
  const std::string group(started.fields.at("cgroup").as_string());
  if (group.empty())
    GTEST_SKIP() << started.fields.at("containment").as_string() << " on this host";
  EXPECT_FALSE(std::filesystem::exists(group));
}

TEST_P(Containment, KillsAStoppedTree) {
  start_script("setsid tail -f /dev/null & echo $!; kill -STOP $$");
  const pid_t helper = printed_pid();
  ::kill(pid_, SIGUSR2);
  EXPECT_EQ(wait(), 0);
  EXPECT_FALSE(lives(helper));
  EXPECT_EQ(records().back().fields.at("signal").as_int64(), SIGKILL);
}

// A process in a frozen version 1 group cannot die: the nearest a test comes to a hung driver.
class Unkillable : public Shim {
 protected:
  void SetUp() override {
    const auto host = containment::this_host();
    if (host.freezer.empty()) GTEST_SKIP() << "no version 1 freezer on this host";
    group_ = host.freezer / ("trainward-test." + std::to_string(::getpid()));
    std::error_code error;
    if (!std::filesystem::create_directory(group_, error)) GTEST_SKIP() << error.message();
    spec_.kill_wait_ms = 200;
  }
  void TearDown() override {
    if (group_.empty()) return;
    put("freezer.state", "THAWED");
    until([this] { return ::rmdir(group_.c_str()) == 0 || errno != EBUSY; });
  }
  void put(const char* file, const std::string& text) { std::ofstream(group_ / file) << text; }
  void freeze(pid_t pid) {
    put("cgroup.procs", std::to_string(pid));
    put("freezer.state", "FROZEN");
    until([this] { return read_file(group_ / "freezer.state", 100).value_or("") == "FROZEN\n"; });
  }
  static std::string comm(pid_t pid) {
    return read_file("/proc/" + std::to_string(pid) + "/comm", 64).value_or("");
  }
  std::filesystem::path group_;
};

TEST_F(Unkillable, AHelperIsNamedAndTheShimStaysUntilItIsGone) {
  start_script("trap 'exit 75' TERM; setsid tail -f /dev/null & echo $!; wait");
  const pid_t helper = printed_pid();
  until([&] { return comm(helper) == "tail\n"; });
  freeze(helper);
  ::kill(pid_, SIGTERM);
  const auto exited = await("exited");
  EXPECT_EQ(exited.fields.at("code").as_int64(), 75);
  const auto unkillable = await("unkillable");
  const auto& processes = unkillable.fields.at("processes").as_array();
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_EQ(processes[0].at("pid").as_int64(), helper);
  EXPECT_EQ(processes[0].at("comm").as_string(), "tail");
  EXPECT_EQ(::waitpid(pid_, nullptr, WNOHANG), 0) << "the shim has let go of the leases";
  put("freezer.state", "THAWED");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(records().back().type, "gone");
}

TEST_F(Unkillable, AWorkerIsNamedAndItsExitStillRecorded) {
  start_script("echo $$; exec tail -f /dev/null");
  const pid_t worker = printed_pid();
  freeze(worker);
  ::kill(pid_, SIGUSR2);
  EXPECT_EQ(await("unkillable").fields.at("processes").at(0).at("pid").as_int64(), worker);
  put("freezer.state", "THAWED");
  EXPECT_EQ(wait(), 0);
  EXPECT_EQ(records().back().fields.at("signal").as_int64(), SIGKILL);
}

TEST_F(Shim, AMemoryLimitHoldsAndIsToldFromOtherDeaths) {
  spec_.memory_limit_bytes = 32 << 20;
  start_script("exec dd if=/dev/zero of=/dev/null bs=256M count=1");
  EXPECT_EQ(wait(), 0);
  const std::string notes(records().front().fields.at("containment_notes").as_string());
  if (!notes.empty()) GTEST_SKIP() << notes;
  EXPECT_EQ(records().back().fields.at("signal").as_int64(), SIGKILL);
  EXPECT_EQ(records().back().fields.at("oom_kills").as_int64(), 1);
  EXPECT_EQ(records().back().fields.at("oom_scope").as_string(), "worker");
}

}  // namespace
}  // namespace trainward
