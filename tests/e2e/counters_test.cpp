// Counters over daemons that are killed and replaced, and what no worker is to know of the daemon.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using Samples = std::map<std::string, double>;

class Counters : public World {
 protected:
  // Of all counters; empty: nobody answers.
  Samples scrape() {
    const Output asked = run("/usr/bin/curl", {"-s", "--unix-socket", ".trainward/trainward.sock",
                                               "http://localhost/metrics?format=text"});
    Samples out;
    std::istringstream lines(asked.out);
    for (std::string line; std::getline(lines, line);) {
      const auto space = line.rfind(' ');
      if (line.starts_with('#') || space == std::string::npos) continue;
      const std::string name = line.substr(0, line.find_first_of("{ "));
      if (name.ends_with("_total")) out[line.substr(0, space)] = std::stod(line.substr(space + 1));
    }
    return out;
  }
  // None is less than before, nor gone.
  void expect_no_fall(int round) {
    Samples now;
    wait_until([&] { return !(now = scrape()).empty(); });
    for (const auto& [sample, value] : before_) {
      const auto found = now.find(sample);
      if (found == now.end()) {
        ADD_FAILURE() << sample << " is gone, round " << round;
      } else {
        EXPECT_GE(found->second, value) << sample << ", round " << round;
      }
    }
    before_ = std::move(now);
  }

  Samples before_;
};

TEST_F(Counters, NoneFallsOverThirtyKillsAndReloads) {
  write("run.yaml",
        "programs:\n"
        "  run: {command: [/bin/sh, -c, 'sleep 0.3; exit 3'], backoff: {first: 20ms, max: 100ms}, "
        "budgets: {attempts_without_progress: 100000}}\n"
        "  still: {command: [/bin/sh, -c, 'tail -f /dev/null']}\n");
  pid_t daemon = start_daemon({"run.yaml"});
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 4; ++i) expect_no_fall(round);
    if (round % 2 == 0) {
      ::kill(daemon, SIGKILL);
      end_of(daemon);
      daemon = start_daemon({"run.yaml"});
    } else {
      EXPECT_EQ(ctl({"reload"}).code, 0);
    }
  }
  expect_no_fall(30);
  EXPECT_FALSE(before_.empty());
  EXPECT_GT(attempts("run").size(), 1U);
}

TEST_F(Counters, AWorkerKnowsNothingOfWhatChannelsAreGivenAndMayLeaveACoreFile) {
  const std::string secret = "S3cretT0picOfTheNight";
  write("run.yaml",
        "notify: {channels: {night: {ntfy: {topic: env:NIGHT, server: 'http://127.0.0.1:9'}}}}\n"
        "programs:\n  run: {command: [/bin/sh, -c, "
        "'env > seen; ulimit -Sc > core.new; mv core.new core.limit; tail -f /dev/null']}\n");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &before), 0);
  const rlimit some{before.rlim_max, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &some), 0);
  ::setenv("NIGHT", secret.c_str(), 1);
  const pid_t daemon = start_daemon({"run.yaml"});
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &before), 0);
  wait_until([&] { return std::filesystem::exists(path("core.limit")); });
  EXPECT_THAT(read_file(path("seen"), 1 << 20).value_or(""), Not(HasSubstr(secret)));
  const std::string limit = read_file(path("core.limit"), 4096).value_or("");
  EXPECT_EQ(limit == "0\n", some.rlim_cur == 0) << limit;
  const auto of = [](pid_t pid, const char* name) {
    return read_file(fmt::format("/proc/{}/{}", pid, name), 1 << 20).value_or("");
  };
  EXPECT_THAT(of(daemon, "limits"), ContainsRegex("Max core file size +0 "));
  EXPECT_THAT(of(daemon, "environ"), HasSubstr(secret)) << "else nothing was tried";
  for (pid_t pid = worker_pid(); pid > 1 && pid != daemon;) {
    EXPECT_THAT(of(pid, "environ"), Not(HasSubstr(secret))) << of(pid, "comm");
    const auto stat = host::read_stat("/", pid);
    pid = stat ? stat->parent : 0;
  }
  const Output shown = ctl({"--json", "config", "show", "run", "run.yaml"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out + shown.err, Not(HasSubstr(secret)));
  ::unsetenv("NIGHT");
}

}  // namespace
}  // namespace trainward::e2e
