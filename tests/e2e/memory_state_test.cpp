// State in memory: a worker that is killed costs no step that was left there, and changes no bit.
//
// TRAINWARD_KILLS (8) makes it larger; TRAINWARD_SEED repeats a run.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

#include "common/wire/kept_state.hpp"
#include "common/wire/launch.hpp"
#include "world.hpp"

namespace trainward::e2e {
namespace {

using testing::HasSubstr;

std::size_t kills_wanted() {
  const char* wanted = std::getenv("TRAINWARD_KILLS");
  return wanted == nullptr ? 8 : std::strtoull(wanted, nullptr, 10);
}

std::uint64_t seed() {
  const char* repeated = std::getenv("TRAINWARD_SEED");
  std::random_device device;
  const std::uint64_t chosen = repeated == nullptr ? (std::uint64_t{device()} << 32U) | device()
                                                   : std::strtoull(repeated, nullptr, 10);
  std::cout << "TRAINWARD_SEED=" << chosen << '\n';
  return chosen;
}

class MemoryState : public World {
 protected:
  // A step takes long enough that a copy of the state fits beside it, on one of two processors.
  void write_run(int steps, const std::string& training = "", const std::string& device = "") {
    write(
        "run.yaml",
        fmt::format("programs:\n  run:\n    training_config: {{model: nano_3x, steps: {}, "
                    "batch_size: 8, block_size: 64, learning_rate: 0.001, data: [text.txt]{}}}\n"
                    "    device_config: {{threads: 1{}}}\n"
                    "    deadlines: {{train_floor: 20s, stop: 20s}}\n    backoff: {{first: 20ms}}\n"
                    "    checkpoints: {{adaptive: false}}\n    rollback: {{loss_spike: false}}\n",
                    steps, training.empty() ? ", checkpoint_every: 1000" : training, device));
  }
  [[nodiscard]] std::filesystem::path program() const { return path(".trainward/runs/run"); }
  [[nodiscard]] std::filesystem::path socket() const {
    return program() / attempt_files::kept_state;
  }
  std::string calm() {
    const Output output = run("trainwardd", {"--once", "run.yaml"});
    EXPECT_EQ(output.code, 0) << output.out << output.err;
    const std::string weights = digest();
    std::filesystem::remove_all(path(".trainward"));
    return weights;
  }
  std::string worker_log(std::int64_t attempt) {
    return read_file(program() / fmt::format("attempts/{:04}/stdout.log", attempt), 16 << 20)
        .value_or("");
  }
  std::int64_t newest_verified() {
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    return store ? store->newest_checkpoint("run").value_or(0) : 0;
  }
  // The newest step that an attempt said is in memory.
  std::int64_t told_in_memory(std::int64_t attempt) {
    const std::string journal =
        read_file(program() / fmt::format("attempts/{:04}/journal.ndjson", attempt), 64 << 20)
            .value_or("");
    constexpr std::string_view key = R"("MEMORY_STEP":")";
    const auto at = journal.rfind(key);
    return at == std::string::npos ? 0 : std::stoll(journal.substr(at + key.size()));
  }
  // So many steps of attempt `number` are on record.
  void wait_for_steps(std::size_t number, std::int64_t steps) {
    wait_until([&] {
      const auto all = attempts();
      return all.size() >= number && all.back().first_step > 0 &&
             all.back().last_step - all.back().resume_step >= steps;
    });
  }
  // After so many steps the worker is killed, and the run goes on to its end.
  std::vector<store::AttemptRow> attempts_with_a_kill(std::int64_t steps) {
    const pid_t daemon = start_daemon({"--once", "run.yaml"});
    wait_for_steps(1, steps);
    ::kill(worker_pid(), SIGKILL);
    EXPECT_EQ(end_of(daemon), 0) << daemon_log();
    return attempts();
  }
  // After so many steps the daemon is killed, and then the worker: nobody else has the state.
  void leave_to_the_keeper(std::int64_t steps) {
    const pid_t daemon = start_daemon({"--once", "run.yaml"});
    wait_for_steps(1, steps);
    const pid_t worker = worker_pid();
    ::kill(daemon, SIGKILL);
    EXPECT_EQ(end_of(daemon), -SIGKILL);
    ::kill(worker, SIGKILL);
    wait_until([&] { return std::filesystem::exists(socket()); });
  }
  void finish(pid_t daemon, const std::string& weights) {
    EXPECT_EQ(end_of(daemon), 0) << daemon_log();
    EXPECT_EQ(digest(), weights) << daemon_log();
    EXPECT_FALSE(std::filesystem::exists(socket())) << "nothing is kept of a run that is done";
  }
};

TEST_F(MemoryState, KillsAtRandomInstantsCostAStepAtMostAndNoBit) {
  const std::size_t kills = kills_wanted();
  std::mt19937_64 random(seed());
  write_run(400);
  const std::string weights = calm();
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  for (std::size_t kill = 1; kill <= kills; ++kill) {
    wait_for_steps(kill, static_cast<std::int64_t>(2 + random() % 20));
    // At any place of a step.
    for (auto spin = random() % 20'000'000; spin > 0; --spin) asm volatile("" : : : "memory");
    ::kill(worker_pid(), SIGKILL);
    wait_until([&] { return attempts().size() > kill; });
  }
  finish(daemon, weights);
  const auto all = attempts();
  ASSERT_EQ(all.size(), kills + 1) << daemon_log();
  for (std::size_t i = 1; i < all.size(); ++i) {
    SCOPED_TRACE(fmt::format("attempt {}: {}", i + 1, worker_log(all[i].number).substr(0, 3000)));
    EXPECT_EQ(all[i].source, "memory");
    // It said so with the step after it: where every step is copied, one is repeated at most.
    const std::int64_t told = told_in_memory(all[i - 1].number);
    EXPECT_GT(told, 0);
    EXPECT_GE(all[i].resume_step, told);
    EXPECT_LE(all[i].resume_step, all[i - 1].last_step + 1);
    EXPECT_EQ(all[i].first_step, all[i].resume_step + 1);
  }
}

// Worker, shim, daemon and keeper in any order: nothing that verified is ever lost, and what is
// taken from memory is beyond it.
TEST_F(MemoryState, WhicheverIsKilledNoVerifiedStepIsLost) {
  std::mt19937_64 random(seed());
  write_run(600, ", checkpoint_every: 20");
  const std::string weights = calm();
  pid_t daemon = start_daemon({"--once", "run.yaml"});
  std::vector<std::int64_t> verified;  // when each attempt ended
  for (std::size_t kill = 1; kill <= kills_wanted(); ++kill) {
    wait_for_steps(kill, static_cast<std::int64_t>(2 + random() % 30));
    const pid_t worker = worker_pid();
    const auto stat = host::read_stat("/", worker);
    ASSERT_TRUE(stat);
    enum class Victim { worker, daemon, shim, keeper };
    const auto victim = static_cast<Victim>(random() % 4);
    SCOPED_TRACE(fmt::format("kill {} of victim {}", kill, static_cast<int>(victim)));
    const bool daemon_too = victim == Victim::daemon || victim == Victim::keeper;
    verified.push_back(newest_verified());
    if (daemon_too) {
      ::kill(daemon, SIGKILL);
      EXPECT_EQ(end_of(daemon), -SIGKILL);
    }
    ::kill(victim == Victim::shim ? stat->parent : worker, SIGKILL);
    if (victim == Victim::keeper) {
      // Its socket removed, it ends, and the memory is gone.
      wait_until([&] { return std::filesystem::exists(socket()); });
      std::filesystem::remove(socket());
    }
    if (daemon_too) daemon = start_daemon({"--once", "run.yaml"});
    wait_until([&] { return attempts().size() > kill; });
  }
  finish(daemon, weights);
  const auto all = attempts();
  ASSERT_GT(all.size(), kills_wanted()) << daemon_log();
  for (std::size_t i = 1; i < all.size(); ++i) {
    SCOPED_TRACE(fmt::format("attempt {}, {}", i + 1, all[i].source));
    if (i <= verified.size()) {
      EXPECT_GE(all[i].resume_step, verified[i - 1]);
    }
    EXPECT_TRUE(all[i].source == "memory" || all[i].resume_step % 20 == 0);
    EXPECT_EQ(all[i].first_step, all[i].resume_step + 1);
  }
}

TEST_F(MemoryState, HistoryAndWhySayWhereAnAttemptBegan) {
  write_run(60, ", checkpoint_every: 25");
  const auto all = attempts_with_a_kill(35);
  ASSERT_EQ(all.size(), 2U) << daemon_log();
  EXPECT_EQ(all[0].source, "");
  EXPECT_EQ(all[1].source, "memory");
  EXPECT_EQ(all[0].kept_step, all[1].resume_step) << "what was in memory was kept";
  EXPECT_THAT(daemon_log(), HasSubstr("resumed from memory at step"));
  EXPECT_THAT(ctl({"history", "run"}).out, HasSubstr("memory"));
  EXPECT_THAT(ctl({"why", "run", "2"}).out, HasSubstr("began    from memory"));
  EXPECT_THAT(ctl({"ckpt", "list", "run"}).out, HasSubstr("from memory"));
}

TEST_F(MemoryState, ADaemonThatIsKilledInBetweenLosesNothing) {
  write_run(300);
  const std::string weights = calm();
  leave_to_the_keeper(20);
  const pid_t second = start_daemon({"--once", "run.yaml"});
  finish(second, weights);
  const auto all = attempts();
  ASSERT_EQ(all.size(), 2U) << daemon_log();
  EXPECT_EQ(all[1].source, "memory");
  EXPECT_GE(all[1].resume_step, told_in_memory(1));
}

TEST_F(MemoryState, WithTheShimItIsGoneAndTheDiskIsUsed) {
  write_run(100, ", checkpoint_every: 10");
  const std::string weights = calm();
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_for_steps(1, 15);
  const auto stat = host::read_stat("/", worker_pid());
  ASSERT_TRUE(stat);
  ::kill(stat->parent, SIGKILL);
  finish(daemon, weights);
  const auto all = attempts();
  ASSERT_EQ(all.size(), 2U) << daemon_log();
  EXPECT_EQ(all[1].source, "disk");
  EXPECT_EQ(all[1].resume_step % 10, 0);
}

// State on devices is fetched for it; that of several, when their copies were found alike.
TEST_F(MemoryState, DevicesLeaveTheirsToo) {
  const std::string two = ", mesh_shape: [1, 2], enable_ddp: true, checksum_every: 1";
  for (const std::string& mesh : {std::string(), two}) {
    SCOPED_TRACE(mesh);
    write_run(80, "", simulated + mesh);
    const std::string weights = calm();
    const pid_t daemon = start_daemon({"--once", "run.yaml"});
    wait_for_steps(1, 15);
    ::kill(worker_pid(), SIGKILL);
    finish(daemon, weights);
    const auto all = attempts();
    ASSERT_EQ(all.size(), 2U) << daemon_log();
    EXPECT_EQ(all[1].source, "memory") << worker_log(2);
    EXPECT_GE(all[1].resume_step, told_in_memory(1));
    std::filesystem::remove_all(path(".trainward"));
  }
}

// Only the first of them could have it, and mpiexec hands nothing on.
TEST_F(MemoryState, SeveralProcessesGoOnFromTheDisk) {
  write_run(40, ", checkpoint_every: 5", ", mesh_shape: [1, 2], enable_ddp: true");
  const auto all = attempts_with_a_kill(12);
  ASSERT_EQ(all.size(), 2U) << daemon_log();
  EXPECT_EQ(all[1].source, "disk");
}

// What a run is taken back from, and what somebody does not want, must not come back by memory.
TEST_F(MemoryState, AStartFromScratchTakesNothing) {
  write_run(100'000);
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_for_steps(1, 20);
  ASSERT_EQ(ctl({"stop", "run"}).code, 0);
  wait_until([&] { return state() == "STOPPED"; });
  ASSERT_EQ(ctl({"start", "run", "--from-scratch"}).code, 0);
  wait_for_steps(2, 2);
  EXPECT_EQ(attempts().back().source, "");
  EXPECT_EQ(attempts().back().resume_step, 0);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

TEST_F(MemoryState, AnotherConfigurationIsRefused) {
  write_run(100'000, ", checkpoint_every: 1000");
  leave_to_the_keeper(20);
  write_run(10, ", checkpoint_every: 1000, seed: 77");
  const pid_t second = start_daemon({"--once", "run.yaml"});
  EXPECT_EQ(end_of(second), 0) << daemon_log();
  const auto all = attempts();
  ASSERT_EQ(all.size(), 2U) << daemon_log();
  EXPECT_EQ(all[1].source, "");
  EXPECT_EQ(all[1].first_step, 1);
  EXPECT_THAT(worker_log(2), HasSubstr("is not resumed from: it belongs to a run with other "
                                       "settings: training_config.seed was 1234 and is 77"));
}

TEST_F(MemoryState, OffItIsNotUsed) {
  write_run(60, ", checkpoint_every: 10, checkpoint_memory: off");
  const auto all = attempts_with_a_kill(15);
  ASSERT_EQ(all.size(), 2U) << daemon_log();
  EXPECT_EQ(all[1].source, "disk");
}

}  // namespace
}  // namespace trainward::e2e
