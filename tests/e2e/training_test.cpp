// Training to the end through faults, with the same weights as without them.

#include <map>

#include "world.hpp"

namespace trainward::e2e {
namespace {

constexpr const char* dead_board = R"(boards:
  - serial: "0100014511708037"
    type: n300
    bus_id: "0000:c1:00.0"
    chips: [{id: L, temperature_c: 50.0, heartbeat: alive}, {id: R, heartbeat: unknown}]
    links: [{from: "L:8", to: "R:0", up: false, retrains: 7}, {from: "L:9", to: "R:1", up: false, retrains: 4}]
)";

class Training : public World {
 protected:
  static std::string two_boards() {
    return dead_board + healthy_board(
                            // Twelve steps of an attempt fit into 24 GiB, with the model's own MiB.
                            "{leak_bytes_per_step: 2040109465, "
                            "hang: {attempt: 2, after_steps: 6}}");
  }
};

TEST_F(Training, FaultsDoNotChangeOneBitOfTheWeights) {
  write("host.yaml", two_boards());
  write_training("calm.yaml", 40, simulated);
  ASSERT_EQ(run("trainwardd", {"--once", "calm.yaml"}).code, 0);
  const std::string calm = digest();
  ASSERT_EQ(calm.size(), 65U) << calm;
  std::filesystem::remove_all(path(".trainward"));

  write_training("faulty.yaml", 40, simulated + ", host: host.yaml");
  const Output faulty = run("trainwardd", {"--once", "faulty.yaml"});
  ASSERT_EQ(faulty.code, 0) << faulty.out << faulty.err;
  EXPECT_EQ(digest(), calm);

  // What happened is told: on the console and in the database.
  EXPECT_NE(faulty.out.find("board 0100014511708037 refused: REMOTE_LOST"), std::string::npos)
      << faulty.out;
  EXPECT_EQ(state(), "EXITED");
  int oom = 0;
  int hang = 0;
  for (const store::AttemptRow& attempt : attempts()) {
    EXPECT_EQ(attempt.board, "010001451170c0c4");
    oom += attempt.cause == "device_oom" ? 1 : 0;
    hang += attempt.cause == "hang" ? 1 : 0;
    if (attempt.cause == "device_oom") {
      EXPECT_EQ(attempt.last_step - attempt.resume_step, 12);
    }
  }
  EXPECT_GE(oom, 2);
  EXPECT_EQ(hang, 1);
  EXPECT_EQ(attempts().back().cause, "done");
  EXPECT_EQ(attempts().back().last_step, 40);
}

// A run that is done is not begun again; one whose file asks for more steps goes on with them.
TEST_F(Training, MoreStepsInTheFileGoOnWithAFinishedRun) {
  write_training("run.yaml", 5, "");
  ASSERT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  const Output again = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("more steps or epochs in its configuration let it go on"),
            std::string::npos)
      << again.out;
  EXPECT_EQ(attempts().size(), 1U);
  write_training("run.yaml", 8, "");
  const Output more = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(more.code, 0) << more.out << more.err;
  ASSERT_EQ(attempts().size(), 2U) << more.out;
  EXPECT_EQ(attempts().back().first_step, 6);
  EXPECT_EQ(attempts().back().last_step, 8);
}

// The card says little more than "Error code: 13"; the rest is on stderr.
TEST_F(Training, EachFaultOfTheCardIsKnownByItsName) {
  write("host.yaml", "boards:\n" + healthy_board("{loads_executables: false, "
                                                 "ethernet_loss: {attempt: 1, after_steps: 7}, "
                                                 "corrupt_kernel_cache: {attempt: 2}, "
                                                 "abort: {attempt: 3, after_steps: 3}}"));
  write_training("run.yaml", 40, simulated + ", host: host.yaml",
                 "    reset_command: [/bin/true]\n");
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  std::vector<std::string> causes;
  for (const store::AttemptRow& attempt : attempts()) causes.push_back(attempt.cause);
  EXPECT_EQ(causes, (std::vector<std::string>{"ethernet", "cache_corrupt", "unknown", "done"}))
      << output.out;
}

// On a card that can load what it compiled, as the simulated one can when nothing else is said.
TEST_F(Training, ARestartCompilesNothing) {
  write("host.yaml", "boards:\n" + healthy_board("{abort: {attempt: 1, after_steps: 12}}"));
  write_training("run.yaml", 20, simulated + ", host: host.yaml");
  const Output output = run("trainwardd", {"--once", "run.yaml"});
  ASSERT_EQ(output.code, 0) << output.out << output.err;
  const auto compiled =
      store::Store::open_read_only(path(".trainward/trainward.db"))->compiled_json("run").value();
  std::map<std::int64_t, std::pair<int, int>> by_attempt;  // hits and misses
  for (const json::value& program : compiled) {
    auto& [hits, misses] = by_attempt[program.at("attempt").as_int64()];
    ++(program.at("hit").as_int64() == 1 ? hits : misses);
  }
  ASSERT_EQ(by_attempt.size(), 2U);
  EXPECT_EQ(by_attempt[1].first, 0);
  EXPECT_GT(by_attempt[1].second, 0);
  EXPECT_EQ(by_attempt[2], std::pair(by_attempt[1].second, 0));
}

// Both chips of a board share each step; the curve is that of one.
TEST_F(Training, TwoChipsTrainAsOne) {
  const auto held_out_loss = [&](const std::string& mesh) {
    std::filesystem::remove_all(path(".trainward"));
    write_training("run.yaml", 20, simulated + mesh, "",
                   ", evaluate_every: 20, evaluation_blocks: 4");
    const Output output = run("trainwardd", {"--once", "run.yaml"});
    EXPECT_EQ(output.code, 0) << output.out << output.err;
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    const auto evaluations = store->evaluations_json("run").value();
    return evaluations.empty() ? 0 : evaluations.back().at("loss").as_double();
  };
  const double one = held_out_loss("");
  EXPECT_GT(one, 0);
  EXPECT_NEAR(held_out_loss(", mesh_shape: [1, 2], enable_ddp: true"), one, 1e-4 * one);
}

TEST_F(Training, TheViewsOfTheDatabaseTellTheStory) {
  write("host.yaml", two_boards());
  // On a busy machine the runtime's own report of the hang would come first.
  write_training("run.yaml", 30, simulated + ", host: host.yaml",
                 "    environment: {TT_METAL_OPERATION_TIMEOUT_SECONDS: '600'}\n");
  ASSERT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  const Output why = ctl({"why", "run", "2"});
  EXPECT_EQ(why.code, 0) << why.err;
  EXPECT_NE(why.out.find("no progress for"), std::string::npos) << why.out;
  const Output history = ctl({"--json", "history", "run"});
  auto rows = parse_json(history.out, "history");
  ASSERT_TRUE(rows.has_value()) << history.out;
  const Output report = ctl({"report", "run"});
  EXPECT_NE(report.out.find("device_oom"), std::string::npos) << report.out;
  EXPECT_NE(report.out.find("hang"), std::string::npos) << report.out;
}

TEST_F(Training, TheLossOfHeldOutDataIsACurveOfItsOwn) {
  write_training("run.yaml", 12, "", "", ", evaluate_every: 5, evaluation_blocks: 2");
  ASSERT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
  const auto rows = store->evaluations_json("run").value();
  ASSERT_EQ(rows.size(), 3U) << json::serialize(rows);  // 5, 10, and the last step
  EXPECT_EQ(rows[2].at("step").as_int64(), 12);
  EXPECT_GT(rows[2].at("loss").as_double(), 0);
  const Output status = ctl({"--json", "status"});
  const auto told = parse_json(status.out, "status").value().at(0);
  EXPECT_EQ(told.at("evaluated_step").as_int64(), 12);
  EXPECT_EQ(told.at("evaluation_loss").as_double(), rows[2].at("loss").as_double());
  const Output report = ctl({"report", "run"});
  EXPECT_NE(report.out.find("held-out loss"), std::string::npos) << report.out;
}

TEST_F(Training, AFlippedByteMakesItFallBackToTheCheckpointBefore) {
  write_training("run.yaml", 20, "");
  ASSERT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  const std::string straight = digest();

  const auto newest = path(".trainward/runs/run/checkpoints/step-00000020/model.safetensors");
  std::string bytes = read_file(newest, 64 << 20).value();
  bytes[bytes.size() - 5] = static_cast<char>(bytes[bytes.size() - 5] ^ 1);
  ASSERT_TRUE(write_file_durably(newest, bytes).has_value());
  EXPECT_NE(ctl({"ckpt", "verify", ".trainward/runs/run/checkpoints/step-00000020"}).code, 0);

  const pid_t daemon = start_daemon({"run.yaml"});
  wait_until([&] { return ctl({"start", "run"}).code == 0; });
  wait_until([&] { return attempts().size() == 2 && state() == "EXITED"; });
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 0);
  // Saves that were due while another was running came later.
  EXPECT_LT(attempts().back().resume_step, 20);
  EXPECT_GE(attempts().back().resume_step, 5);
  EXPECT_EQ(digest(), straight);
  EXPECT_NE(daemon_log().find("set aside"), std::string::npos) << daemon_log();
}

TEST_F(Training, SigtermSavesAndTheNextDaemonGoesOn) {
  write_training("run.yaml", 4000, "");
  const pid_t first = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() >= 7; });
  ::kill(first, SIGTERM);
  EXPECT_EQ(end_of(first), 75);
  ASSERT_EQ(attempts().size(), 1U);
  const store::AttemptRow stopped = attempts().front();
  EXPECT_EQ(stopped.cause, "stopped");
  EXPECT_EQ(stopped.exit_code, 75);
  EXPECT_EQ(stopped.kept_step, stopped.last_step) << "the worker saved before it left";

  const pid_t second = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return attempts().size() == 2 && attempts().back().first_step > 0; });
  EXPECT_EQ(attempts().back().first_step, stopped.last_step + 1);
  ::kill(second, SIGTERM);
  EXPECT_EQ(end_of(second), 75);
}

}  // namespace
}  // namespace trainward::e2e
