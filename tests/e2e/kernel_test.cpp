// Kernels that are too old and containers that forbid what newer ones have: refused at the start
// with the name of what is missing, or worked around.

#include <sys/stat.h>

#include "world.hpp"

namespace trainward::e2e {
namespace {

constexpr const char* idle = "programs:\n  run: {command: [/usr/bin/tail, -f, /dev/null]}\n";

// What is done without, all of it missing at once. Not inotify_init1, which has tests of its own.
constexpr const char* optional[] = {
    "io_uring_setup", "io_uring_enter",  "renameat2",    "close_range", "statx", "openat2",
    "preadv2",        "copy_file_range", "memfd_create", "fallocate",   "rseq"};

class Kernel : public World, public ::testing::WithParamInterface<const char*> {
 protected:
  // A command line under a filter that answers as the parameter says.
  static std::vector<std::string> without(const std::vector<std::string>& calls,
                                          const std::vector<std::string>& command) {
    std::vector<std::string> words{program("deny-syscall")};
    for (const std::string& call : calls) words.push_back(call + ":" + GetParam());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  Output run_without(const std::vector<std::string>& calls, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program("trainwardd"));
    auto words = without(calls, arguments);
    words.erase(words.begin());
    return run("deny-syscall", words);
  }
  void write_saving_worker() {
    write("run.yaml", "programs:\n  run:\n    command: [" + program("fault-worker") +
                          ", --steps, '30', --every, '10']\n    watch: {protocol: true}\n"
                          "    checkpoints: {every: 10}\n");
  }
};

TEST_P(Kernel, WhatIsNeededAndMissingIsNamedBeforeAnythingStarts) {
  write("run.yaml", idle);
  const std::pair<const char*, const char*> needed[] = {{"pidfd_open", "Linux 5.3"},
                                                        {"pidfd_send_signal", "Linux 5.1"},
                                                        {"signalfd4", "Linux 2.6.27"},
                                                        {"getrandom", "Linux 3.17"}};
  for (const auto& [call, kernel] : needed) {
    SCOPED_TRACE(call);
    const Output refused = run_without({call}, {"run.yaml"});
    EXPECT_EQ(refused.code, 78) << "a retry cannot help";
    const std::string name = std::string(call) == "signalfd4" ? "signalfd" : call;
    EXPECT_NE(refused.err.find(name + " ("), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find(kernel), std::string::npos) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(path(".trainward"))) << "nothing was begun";

    const Output check = run_without({call}, {"--check", "run.yaml"});
    EXPECT_EQ(check.code, 78);
    EXPECT_EQ(check.err, refused.err);
    EXPECT_NE(check.out.find("trainwardd does not start (here: "), std::string::npos) << check.out;
  }
}

TEST_P(Kernel, WhatIsNotNeededAndMissingIsDoneWithout) {
  write_saving_worker();
  const std::vector<std::string> calls(std::begin(optional), std::end(optional));
  const Output check = run_without(calls, {"--check", "run.yaml"});
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_NE(check.out.find("plain reads and writes"), std::string::npos) << check.out;
  const Output output = run_without(calls, {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  ASSERT_EQ(attempts().size(), 1U) << output.out;
  EXPECT_EQ(attempts()[0].cause, "done") << attempts()[0].verdict;
  EXPECT_EQ(attempts()[0].kept_step, 30) << "a checkpoint was not kept";
}

TEST_P(Kernel, AShimThatMayNotIsNoFaultOfTheConfiguration) {
  std::filesystem::create_directories(path("bin"));
  for (const char* name : {"trainward-probe", "trainward-worker"}) {
    std::filesystem::create_symlink(program(name), path("bin") / name);
  }
  std::filesystem::copy_file(program("trainwardd"), path("bin/trainwardd"));
  std::string script = "#!/bin/sh\nexec";
  for (const std::string& word : without({"signalfd4"}, {program("trainward-shim")})) {
    script += " '" + word + "'";
  }
  write("bin/trainward-shim", script + " \"$@\"\n");
  ::chmod(path("bin/trainward-shim").c_str(), 0755);
  write("run.yaml",
        "programs:\n  run:\n    command: [/bin/true]\n    budgets: {attempts: 2}\n"
        "    backoff: {first: 10ms}\n");
  EXPECT_NE(end_of(start({path("bin/trainwardd"), "--once", "run.yaml"})), 78) << daemon_log();
  ASSERT_EQ(attempts().size(), 2U) << daemon_log();
  for (const auto& attempt : attempts()) {
    EXPECT_EQ(attempt.cause, "start_failed") << attempt.verdict;
    EXPECT_NE(attempt.verdict.find("signal descriptor"), std::string::npos) << attempt.verdict;
  }
}

INSTANTIATE_TEST_SUITE_P(Answers, Kernel, ::testing::Values("ENOSYS", "EPERM"),
                         [](const auto& info) { return std::string(info.param); });

// The C library of this host looks for clone3 first, and takes only ENOSYS for its absence.
class Clone3 : public Kernel {};

TEST_P(Clone3, OldKernelsHaveNone) {
  write_saving_worker();
  const Output output = run_without({"clone3"}, {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  EXPECT_EQ(attempts().at(0).cause, "done");
}
INSTANTIATE_TEST_SUITE_P(Answers, Clone3, ::testing::Values("ENOSYS"),
                         [](const auto& info) { return std::string(info.param); });

class ForbiddenClone3 : public Kernel {};

TEST_P(ForbiddenClone3, LeavesNoThreadsAndIsRefused) {
  write("run.yaml", idle);
  const Output refused = run_without({"clone3"}, {"run.yaml"});
  EXPECT_EQ(refused.code, 78);
  EXPECT_NE(refused.err.find("threads (Operation not permitted"), std::string::npos) << refused.err;
}
INSTANTIATE_TEST_SUITE_P(Answers, ForbiddenClone3, ::testing::Values("EPERM"),
                         [](const auto& info) { return std::string(info.param); });

class HostOffer : public World {};

TEST_F(HostOffer, IsPrintedByCheckWithAUseForEach) {
  write("run.yaml", idle);
  const Output check = run("trainwardd", {"--check", "run.yaml"});
  EXPECT_EQ(check.code, 0) << check.err;
  for (const char* name :
       {"pidfd_open", "pidfd_send_signal", "signalfd", "threads", "getrandom", "/proc", "inotify",
        "clone3 into cgroup", "renameat2", "cgroup version 2", "cgroup version 1",
        "memory controller", "memory pressure", "kernel log", "io_uring"}) {
    const auto at = check.out.find("\n" + std::string(name) + " ");
    ASSERT_NE(at, std::string::npos) << name << " is missing in\n" << check.out;
    const std::string line = check.out.substr(at + 1, check.out.find('\n', at + 1) - at - 1);
    EXPECT_NE(line.find(line.find(" no ") == std::string::npos ? " yes " : " no "),
              std::string::npos)
        << line;
  }
}

}  // namespace
}  // namespace trainward::e2e
