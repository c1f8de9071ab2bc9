// Clocks that go back. The wall clock of this machine is left alone: what it would do to a file is
// done to the file.

#include "world.hpp"

namespace trainward::e2e {
namespace {

class AttackClock : public World {
 protected:
  // A program that rewrites its status file `count` times, as it would with a clock that went back
  // by an hour after the launch, or on a network disk whose clock is behind.
  void write_program(int count, const std::string& deadlines) {
    write("train.sh",
          "n=0\nwhile [ $n -lt " + std::to_string(count) +
              " ]; do\n  n=$((n + 1))\n  echo \"{\\\"step\\\": $n, \\\"loss\\\": 1.5}\" >new\n"
              "  touch -d '1 hour ago' new\n  mv new status.json\n  sleep 0.05\ndone\n");
    write("run.yaml",
          "programs:\n  run:\n    command: [sh, train.sh]\n    watch: {status_file: status.json}\n"
          "    deadlines: {" +
              deadlines + "}\n    backoff: {first: 10ms}\n");
  }
};

TEST_F(AttackClock, GoingBackAfterTheLaunchKillsNoHealthyProgram) {
  write_program(60, "start: 2s, train_floor: 2s");
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  ASSERT_EQ(attempts().size(), 1U) << output.out;
  EXPECT_EQ(attempts()[0].cause, "done");
  EXPECT_EQ(attempts()[0].last_step, 60);
}

TEST_F(AttackClock, WhatAnEarlierAttemptLeftIsStillNoNews) {
  write_program(0, "start: 1s, train_floor: 1s");
  write("train.sh", "exec sleep 60\n");
  write("status.json", R"({"step": 40, "loss": 1.5})");
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(path("status.json"), old);
  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return !attempts().empty() && attempts()[0].ended_ms > 0; });
  EXPECT_EQ(attempts()[0].cause, "hang");
  EXPECT_EQ(attempts()[0].first_step, 0);
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
}

}  // namespace
}  // namespace trainward::e2e
