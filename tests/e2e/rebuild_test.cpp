// The run database is gone or damaged; the journals know what it knew.

#include <fstream>

#include "world.hpp"

namespace trainward::e2e {
namespace {

class Rebuild : public World {
 protected:
  // With a worker in the middle of its work, and no daemon.
  store::AttemptRow start_and_kill_the_daemon() {
    write_training("run.yaml", 1500, "");
    const pid_t daemon = start_daemon({"--once", "run.yaml"});
    wait_until([&] { return last_step() >= 20; });
    ::kill(daemon, SIGKILL);
    end_of(daemon);
    return attempts().front();
  }
  // Its successor finds the worker, and counts each step once.
  void expect_the_same_attempt_to_finish(const store::AttemptRow& before) {
    EXPECT_EQ(end_of(start_daemon({"--once", "run.yaml"})), 0) << daemon_log();
    ASSERT_EQ(attempts().size(), 1U) << "a second worker was started\n" << daemon_log();
    const auto after = attempts().front();
    EXPECT_EQ(after.pid, before.pid);
    EXPECT_EQ(after.nonce, before.nonce);
    EXPECT_EQ(after.first_step, 1);
    EXPECT_EQ(after.last_step, 1500);
    EXPECT_EQ(after.kept_step, 1500);
    EXPECT_EQ(after.cause, "done");
    auto store = store::Store::open_read_only(database());
    EXPECT_EQ(store->step_rows("run").value(), 1500);
  }
  [[nodiscard]] std::filesystem::path database() const { return path(".trainward/trainward.db"); }
  void remove_database() {
    for (const char* part : {"", "-wal", "-shm"}) {
      std::filesystem::remove(database().string() + part);
    }
  }
  int set_aside() {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path(".trainward"))) {
      if (entry.path().filename().string().starts_with("trainward.db.damaged-")) ++files;
    }
    return files;
  }
};

TEST_F(Rebuild, ADamagedDatabaseIsSetAsideAndTheWorkerGoesOn) {
  const auto before = start_and_kill_the_daemon();
  remove_database();
  std::ofstream(database(), std::ios::binary) << std::string(64 * 1024, 'x');
  expect_the_same_attempt_to_finish(before);
  EXPECT_GE(set_aside(), 1);
  EXPECT_NE(daemon_log().find("set aside as trainward.db.damaged-"), std::string::npos);
}

TEST_F(Rebuild, AMissingDatabaseDoesNotLoseTheWorker) {
  const auto before = start_and_kill_the_daemon();
  remove_database();
  expect_the_same_attempt_to_finish(before);
  EXPECT_EQ(set_aside(), 0);
}

// A daemon that ran out of descriptors could not read it.
TEST_F(Rebuild, ADatabaseThatDoesNotKnowTheStartOfTheMachineIsNoNewOne) {
  const auto before = start_and_kill_the_daemon();
  {
    auto store = store::Store::open(database());
    ASSERT_TRUE(store.has_value()) << store.error().message();
    ASSERT_TRUE(store->put_boot_id("", 1).has_value());
  }
  expect_the_same_attempt_to_finish(before);
  EXPECT_EQ(daemon_log().find("back from the journals"), std::string::npos) << daemon_log();
}

TEST_F(Rebuild, AStateThatCannotBeReadIsTakenFromTheNewestAttempt) {
  const auto before = start_and_kill_the_daemon();
  {
    auto store = store::Store::open(database());
    ASSERT_TRUE(store.has_value()) << store.error().message();
    auto row = store->program("run").value().value();
    row.core_state = "{\"stage\":";
    ASSERT_TRUE(store->put_program(row).has_value());
  }
  expect_the_same_attempt_to_finish(before);
}

TEST_F(Rebuild, TheHistoryOfWhatHasEndedComesBack) {
  // The first attempt stands still until it is killed, here or for standing still.
  write("host.yaml", "boards:\n" + healthy_board("{hang: {attempt: 1, after_steps: 25}}"));
  write_training("run.yaml", 400, simulated + ", host: host.yaml", "",
                 ", evaluate_every: 10, evaluation_blocks: 2");
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() >= 20; });
  ::kill(worker_pid(), SIGSEGV);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  const auto before = attempts();
  const auto rows = store::Store::open_read_only(database())->step_rows("run").value();
  const auto evaluations =
      store::Store::open_read_only(database())->evaluations_json("run").value();
  EXPECT_EQ(evaluations.size(), 40U);
  ASSERT_EQ(before.size(), 2U);

  remove_database();
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0) << "it had finished";
  const auto after = attempts();
  ASSERT_EQ(after.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(after[i].pid, before[i].pid);
    EXPECT_EQ(after[i].started_ms, before[i].started_ms);
    EXPECT_EQ(after[i].ended_ms, before[i].ended_ms);
    EXPECT_EQ(after[i].resume_step, before[i].resume_step);
    EXPECT_EQ(after[i].resume_from, before[i].resume_from);
    EXPECT_EQ(after[i].first_step, before[i].first_step);
    EXPECT_EQ(after[i].last_step, before[i].last_step);
    EXPECT_EQ(after[i].kept_step, before[i].kept_step);
    EXPECT_EQ(after[i].exit_code, before[i].exit_code);
    EXPECT_EQ(after[i].exit_signal, before[i].exit_signal);
    EXPECT_EQ(after[i].cause, before[i].cause);
    EXPECT_EQ(after[i].plan.empty(), before[i].plan.empty());
  }
  EXPECT_EQ(store::Store::open_read_only(database())->step_rows("run").value(), rows);
  EXPECT_EQ(store::Store::open_read_only(database())->evaluations_json("run").value(), evaluations);
  EXPECT_EQ(state(), "EXITED");
}

}  // namespace
}  // namespace trainward::e2e
