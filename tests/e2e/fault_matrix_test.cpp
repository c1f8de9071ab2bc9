// Every fault in every phase, all at once under one daemon: each is called by its name, nothing
// healthy is killed, and nothing that was saved is lost.

#include <map>

#include "common/base/text.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

struct Expected {
  const char* fault;
  const char* cause;  // of the first attempt; "" when there is only one, and it succeeds
  bool again = true;  // a second attempt follows and finishes
};

constexpr Expected faults[] = {
    {"sigkill", "killed"},       {"sigstop", "hang"},          {"sigsegv", "crash"},
    {"abort", "crash"},          {"exit1", "unknown"},         {"exit75", "try_again"},
    {"exit78", "config", false}, {"device_oom", "device_oom"}, {"hang", "hang"},
    {"flood", "", false},        {"garbage", "", false}};
constexpr const char* phases[] = {"load", "compile", "train", "save"};

class FaultMatrix : public World {
 protected:
  static std::string program_of(const std::string& name, const std::string& arguments,
                                const std::string& more = "") {
    return "  " + name + ":\n    command: [" + program("fault-worker") + arguments +
           "]\n    watch: {protocol: true}\n    checkpoints: {every: 5, on_stop: true}\n"
           "    deadlines: {start: 20s, load: 4s, compile: 4s, train_floor: 4s, save: 4s}\n"
           "    backoff: {first: 10ms}\n" +
           more;
  }

  void check(const Expected& expected, const std::string& phase, const std::string& name) {
    SCOPED_TRACE(name);
    const auto all = attempts(name);
    const std::string cause = expected.cause;
    ASSERT_EQ(all.size(), expected.again ? 2U : 1U) << daemon_log();
    if (!cause.empty()) {
      EXPECT_EQ(all[0].cause, cause) << all[0].verdict;
    }
    if (expected.again || cause.empty()) {
      EXPECT_EQ(all.back().cause, "done") << all.back().verdict;
      EXPECT_EQ(all.back().last_step, 20);
    }
    if (all.size() == 2) {
      EXPECT_LE(all[0].last_step - all[1].resume_step, 5) << "more than a checkpoint interval lost";
      const bool saved_before = phase == "train" || phase == "save";
      EXPECT_EQ(all[1].resume_step, saved_before ? 5 : 0);
    }
    EXPECT_FALSE(std::filesystem::exists(path(".trainward/runs/" + name + "/second-copy")));
  }
};

TEST_F(FaultMatrix, EveryFaultInEveryPhaseIsCalledByItsName) {
  std::string text = "programs:\n";
  for (const Expected& expected : faults) {
    for (const char* phase : phases) {
      const std::string name = std::string(expected.fault) + "-" + phase;
      text += program_of(name, std::string(", --phase, ") + phase + ", --fault, " + expected.fault);
    }
  }
  write("matrix.yaml", text);
  const pid_t daemon = start_daemon({"--once", "matrix.yaml"});
  EXPECT_EQ(end_of(daemon), 78) << "the exit code of the programs that refused their configuration";
  for (const Expected& expected : faults) {
    for (const char* phase : phases) {
      check(expected, phase, std::string(expected.fault) + "-" + phase);
    }
  }
}

TEST_F(FaultMatrix, AWorkerBeyondItsMemoryLimitIsOutOfHostMemoryInEveryPhase) {
  const std::vector<std::string> phases{"load", "compile", "train", "save"};
  std::string config = "programs:\n";
  for (const std::string& phase : phases) {
    config += program_of("eater-" + phase, ", --phase, " + phase + ", --fault, host_oom",
                         "    limits: {memory: 192MiB}\n");
  }
  write("limit.yaml", config);
  const Output output = run("trainwardd", {"--once", "limit.yaml"});
  if (daemon_cannot_limit(output)) GTEST_SKIP() << "no memory cgroup can be made here";
  for (const std::string& phase : phases) {
    const auto all = attempts("eater-" + phase);
    ASSERT_EQ(all.size(), 2U) << phase << '\n' << output.out << output.err;
    EXPECT_EQ(all[0].cause, "host_oom") << phase << ": " << all[0].verdict;
    EXPECT_EQ(all[1].cause, "done") << phase;
  }
}

}  // namespace
}  // namespace trainward::e2e
