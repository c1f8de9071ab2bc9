// `standby: true`: the next attempt's worker is started ahead, and waits. It is used, or it is
// gone; two never train.
#include <gmock/gmock.h>

#include <set>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Says in `trained`, one line a step, which process trains; "ahead" behind it: at once, though it
// was started ahead.
constexpr const char* script = R"(
import os, sys, time
sys.path.insert(0, os.path.dirname(os.environ['WORKER_PY']))
from trainward_worker import Worker
worker = Worker()
ahead = 'TRAINWARD_STANDBY' in os.environ
open('started', 'a').write(f'{os.getpid()}\n')
if not os.path.exists('impatient'): worker.wait()
start = 0
if worker.resume_from:
    start = int(open(worker.resume_from).read())
worker.tell(PHASE='train')
for step in range(start + 1, int(os.environ['STEPS']) + 1):
    open('trained', 'a').write(f'{step} {os.getpid()}{" ahead" if ahead else ""}\n')
    worker.tell(STEP=step, LOSS=5.0 / step)
    if step % 5 == 0:
        path = os.path.join(worker.checkpoint_dir, f'step-{step:06}.txt')
        open(path + '.new', 'w').write(str(step))
        os.rename(path + '.new', path)
        worker.tell(CHECKPOINT=path, CHECKPOINT_STEP=step)
    if worker.stop: sys.exit(75)
    time.sleep(0.02)
)";

class StandbyWorker : public World {
 protected:
  void SetUp() override {
    if (end_of(start({"/usr/bin/env", "python3", "-c", ""})) != 0) {
      GTEST_SKIP() << "python3 is not here";
    }
    write("train.py", script);
    write_program(400);
  }

  void write_program(int steps) {
    write("run.yaml",
          "programs:\n  run:\n    command: [python3, train.py]\n    standby: true\n"
          "    environment: {WORKER_PY: " SOURCE_FOLDER
          "/examples/trainward_worker.py, PYTHONDONTWRITEBYTECODE: '1', STEPS: '" +
              std::to_string(steps) +
              "'}\n"
              "    watch: {protocol: true, checkpoints: ['{checkpoint_dir}/step-*.txt']}\n"
              "    checkpoints: {on_stop: true}\n    backoff: {first: 20ms}\n");
  }

  std::vector<std::string> lines(const std::string& file) {
    std::vector<std::string> all;
    std::istringstream text(read_file(path(file), 1 << 20).value_or(""));
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }
  // The process that was started last and has not trained: the one that waits.
  pid_t waiting_pid() {
    for (auto line = lines("started"); !line.empty(); line.pop_back()) {
      const pid_t pid = static_cast<pid_t>(std::stol(line.back()));
      if (pid != worker_pid()) return pid;
    }
    return 0;
  }
  void wait_for_standby() {
    wait_until([&] { return daemon_log().find("is ready, and waits") != std::string::npos; });
  }
  static bool lives(pid_t pid) { return ::kill(pid, 0) == 0; }
};

TEST_F(StandbyWorker, GoesOnWhereTheOtherWasKilled) {
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() > 20 && attempts().back().kept_step >= 20; });
  wait_for_standby();
  const pid_t waiting = waiting_pid();
  ::kill(worker_pid(), SIGKILL);
  wait_until([&] { return attempts().size() == 2 && attempts().back().last_step > 60; });
  EXPECT_EQ(worker_pid(), waiting) << daemon_log();
  EXPECT_THAT(daemon_log(), HasSubstr("goes on with a worker that was ready"));
  EXPECT_GE(attempts().back().resume_step, 20);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  // Each step was trained by one process at a time, and none twice after its checkpoint.
  const auto trained = lines("trained");
  EXPECT_THAT(trained.back(), HasSubstr("400 " + std::to_string(waiting) + " ahead"));
  EXPECT_EQ(attempts().back().cause, "done");
  EXPECT_NE(attempts()[0].nonce, attempts()[1].nonce);
}

TEST_F(StandbyWorker, EachAttemptHasANonceOfItsOwnWithoutOneToo) {
  write_program(60);
  write("run.yaml", std::string(read_file(path("run.yaml"), 4096).value())
                        .replace(read_file(path("run.yaml"), 4096).value().find("standby: true"),
                                 13, "standby: false"));
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  for (std::size_t attempt = 1; attempt <= 3; ++attempt) {
    wait_until([&] {
      const auto all = attempts();
      return all.size() == attempt && all.back().last_step > all.back().resume_step + 5;
    });
    ::kill(worker_pid(), SIGKILL);
  }
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  std::set<std::string> nonces;
  for (const store::AttemptRow& attempt : attempts()) nonces.insert(attempt.nonce);
  EXPECT_EQ(nonces.size(), attempts().size());
}

TEST_F(StandbyWorker, EndsWithTheProgramAndWithTheDaemon) {
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return last_step() >= 3; });
  wait_for_standby();
  const pid_t first = waiting_pid();
  ASSERT_EQ(ctl({"stop", "run"}).code, 0);
  wait_until([&] { return !lives(first); });
  wait_until([&] { return std::filesystem::is_empty(path(".trainward/runs/run/standby")); });
  ASSERT_EQ(ctl({"start", "run"}).code, 0);
  wait_until([&] { return attempts().size() == 2 && last_step() > attempts().back().resume_step; });
  wait_until([&] { return lines("started").size() == 4; });
  const pid_t second = waiting_pid();
  const pid_t worker = worker_pid();
  ::kill(daemon, SIGKILL);
  wait_until([&] { return !lives(second); });
  EXPECT_TRUE(lives(worker)) << "it trains on";
}

TEST_F(StandbyWorker, IsNotUsedWhenTheScriptHasChanged) {
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() > 5 && attempts().back().kept_step >= 5; });
  wait_for_standby();
  const pid_t waiting = waiting_pid();
  write("train.py", std::string(script) + "\n# a later version\n");
  ::kill(worker_pid(), SIGKILL);
  wait_until([&] { return attempts().size() == 2 && attempts().back().pid != 0; });
  EXPECT_NE(worker_pid(), waiting);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_THAT(daemon_log(), HasSubstr("a file of its command has changed"));
  for (const std::string& line : lines("trained")) {
    EXPECT_THAT(line, Not(HasSubstr(" " + std::to_string(waiting) + " ")));
  }
}

TEST_F(StandbyWorker, ThatTrainsBeforeItIsToldIsEndedAndGetsNoOther) {
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  write("impatient", "");
  wait_until([&] { return daemon_log().find("trains before") != std::string::npos; });
  EXPECT_EQ(lines("started").size(), 2U);
  ::kill(worker_pid(), SIGKILL);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_EQ(lines("started").size(), 3U) << "the first, the standby, and the second attempt";
  EXPECT_EQ(attempts().size(), 2U);
}

TEST_F(StandbyWorker, ThatIsKilledCostsNothing) {
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() >= 3; });
  wait_for_standby();
  ::kill(waiting_pid(), SIGKILL);
  wait_until([&] { return daemon_log().find("starts as usual") != std::string::npos; });
  ::kill(worker_pid(), SIGKILL);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_EQ(attempts().size(), 2U);
}

// Whether the word to begin was given or not: the one that was told trains, or nobody does, and the
// next daemon goes on with what it finds.
TEST_F(StandbyWorker, ADaemonThatIsKilledAtItsBeginLeavesOneThatTrains) {
  write_program(150);
  for (const std::string point :
       {"launch.decided:2", "launch.prepared:2", "launch.spawned:2", "launch.done:2"}) {
    SCOPED_TRACE(point);
    for (const char* file : {".trainward", "started", "trained", "daemon.log"}) {
      std::filesystem::remove_all(path(file));
    }
    ::setenv("TRAINWARD_FAULT", point.c_str(), 1);
    const pid_t first = start_daemon({"--once", "run.yaml"});
    ::unsetenv("TRAINWARD_FAULT");
    wait_until([&] { return last_step() > 10 && attempts().back().kept_step >= 10; });
    wait_for_standby();
    ::kill(worker_pid(), SIGKILL);
    EXPECT_EQ(end_of(first), -SIGKILL) << daemon_log();
    EXPECT_EQ(end_of(start_daemon({"--once", "run.yaml"})), 0) << daemon_log();
    EXPECT_EQ(attempts().back().cause, "done");
    EXPECT_EQ(attempts().back().last_step, 150);
    // Nobody trains again after another has.
    std::vector<std::string> order;
    for (const std::string& line : lines("trained")) {
      std::istringstream words(line);
      std::string step;
      std::string pid;
      words >> step >> pid;
      if (order.empty() || order.back() != pid) order.push_back(pid);
    }
    std::vector<std::string> once = order;
    std::ranges::sort(once);
    EXPECT_TRUE(std::ranges::adjacent_find(once) == once.end()) << daemon_log();
  }
}

class OwnStandby : public World {};

TEST_F(OwnStandby, OurWorkerGoesOnWithTheSameWeights) {
  write_training("run.yaml", 1500, "", "    standby: true\n");
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() > 20 && attempts().back().kept_step >= 20; });
  wait_until([&] { return daemon_log().find("is ready, and waits") != std::string::npos; });
  ::kill(worker_pid(), SIGKILL);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_EQ(attempts().back().last_step, 1500);
  EXPECT_THAT(daemon_log(), HasSubstr("goes on with a worker that was ready"));
  const std::string disturbed = digest();
  std::filesystem::remove_all(path(".trainward"));
  write_training("run.yaml", 1500, "");
  EXPECT_EQ(end_of(start_daemon({"--once", "run.yaml"})), 0);
  EXPECT_EQ(digest(), disturbed);
}

}  // namespace
}  // namespace trainward::e2e
