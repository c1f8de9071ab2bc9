// What a killed shim leaves is ended before the next attempt, and nothing else is.

#include "supervisor/process/containment/leftovers.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <fstream>

#include "common/protocol/protocol.hpp"
#include "shim_fixture.hpp"

namespace trainward {
namespace {

class Leftovers : public Shim, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder());
    spec_.containment = GetParam();
    spec_.cgroup = containment::cgroup_prefix(folder_.path(), "test") + "1";
    spec_.environment = {{env::run, "test"},
                         {env::attempt, "1"},
                         {env::nonce, "n0"},
                         {env::checkpoint_dir, checkpoints()}};
    // As the daemon does: the shim inherits the lease, and the worker from it.
    lease_ = Fd(::open((folder_.path() / "lease").c_str(), O_RDWR | O_CREAT, 0600));
    ASSERT_EQ(::flock(lease_.get(), LOCK_EX | LOCK_NB), 0);
  }
  [[nodiscard]] std::filesystem::path folder() const override {
    return folder_.path() / "attempts" / "0001";
  }
  [[nodiscard]] std::string checkpoints() const { return folder_.path() / "checkpoints"; }

  containment::LeftoverQuery query() {
    containment::LeftoverQuery query;
    query.run = "test";
    query.checkpoint_dir = checkpoints();
    query.attempts = folder_.path() / "attempts";
    query.cgroup_prefix = containment::cgroup_prefix(folder_.path(), "test");
    return query;
  }
  bool lease_is_free() {
    const Fd again(::open((folder_.path() / "lease").c_str(), O_RDWR | O_CLOEXEC));
    return ::flock(again.get(), LOCK_EX | LOCK_NB) == 0;
  }
  // Helpers in sessions of their own, double-forked, holding the lease. (Not the pipe: tail ends
  // when it breaks.)
  std::vector<pid_t> start_with_helpers() {
    start_script(
        "setsid tail -f /dev/null >/dev/null & echo $!;"
        "(setsid sh -c 'tail -f /dev/null >/dev/null & echo $!;"
        "exec tail -f /dev/null >/dev/null' &); wait");
    lease_.reset();
    std::vector<pid_t> pids;
    until([&] {
      pids.clear();
      std::ifstream lines(folder() / attempt_files::standard_output);
      for (pid_t pid = 0; lines >> pid;) pids.push_back(pid);
      return pids.size() == 2;
    });
    return pids;
  }
  Fd lease_;
};

INSTANTIATE_TEST_SUITE_P(Means, Leftovers, ::testing::Values("auto", "cgroup1", "none"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Leftovers, OfAKilledShimAreGoneAndTheLeaseIsFree) {
  const auto helpers = start_with_helpers();
  const std::string group(await("started").fields.at("cgroup").as_string());
  ::kill(pid_, SIGKILL);
  wait();
  ASSERT_TRUE(lives(helpers[0])) << "nothing was left to clear";
  EXPECT_FALSE(lease_is_free());
  const auto cleared = containment::clear_leftovers(query());
  EXPECT_TRUE(cleared.searched);
  EXPECT_GE(cleared.killed, 3);
  EXPECT_TRUE(cleared.survivors.empty()) << containment::to_string(cleared.survivors);
  for (const pid_t pid : helpers) EXPECT_FALSE(lives(pid));
  until([this] { return lease_is_free(); });
  EXPECT_TRUE(group.empty() || !std::filesystem::exists(group));
}

TEST_P(Leftovers, ALiveShimsAttemptIsNotTouched) {
  const auto helpers = start_with_helpers();
  await("started");
  const auto cleared = containment::clear_leftovers(query());
  EXPECT_EQ(cleared.killed, 0);
  for (const pid_t pid : helpers) EXPECT_TRUE(lives(pid));
  ::kill(pid_, SIGUSR2);
  EXPECT_EQ(wait(), 0);
  for (const pid_t pid : helpers) EXPECT_FALSE(lives(pid));
}

TEST_P(Leftovers, NothingElseIsTouched) {
  const auto helpers = start_with_helpers();
  await("started");
  ::kill(pid_, SIGKILL);
  wait();
  auto other = query();
  other.run = "another";
  other.cgroup_prefix = containment::cgroup_prefix(folder_.path(), "another");
  other.attempts = folder_.path() / "none";
  EXPECT_EQ(containment::clear_leftovers(other).killed, 0);
  auto elsewhere = query();
  elsewhere.checkpoint_dir = "/elsewhere";
  elsewhere.cgroup_prefix = containment::cgroup_prefix("/elsewhere", "test");
  EXPECT_EQ(containment::clear_leftovers(elsewhere).killed, 0);
  for (const pid_t pid : helpers) EXPECT_TRUE(lives(pid));
  containment::clear_leftovers(query());
  for (const pid_t pid : helpers) EXPECT_FALSE(lives(pid));
}

TEST_P(Leftovers, AfterAnOrderlyEndNobodyIsLookedFor) {
  start_script("exit 0");
  lease_.reset();
  EXPECT_EQ(wait(), 0);
  EXPECT_FALSE(containment::clear_leftovers(query()).searched);
  EXPECT_TRUE(lease_is_free());
}

}  // namespace
}  // namespace trainward
