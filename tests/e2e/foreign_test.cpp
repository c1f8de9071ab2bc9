// Programs that are not our worker: one that speaks the protocol, and one that knows nothing of us.

#include <sys/stat.h>

#include "world.hpp"

namespace trainward::e2e {
namespace {

// A training script in the manner of AGILLM-3: status.json after each step, a legacy .pt now and
// then. It hangs once, behind step 12 of a first attempt, as a dead device makes it hang.
constexpr const char* script = R"(
import json, os, pickle, signal, sys, time
start = int(sys.argv[sys.argv.index('--start') + 1])
if '--resume' in sys.argv:
    with open(sys.argv[sys.argv.index('--resume') + 1], 'rb') as f: assert pickle.load(f) == start
os.makedirs('ckpts', exist_ok=True)
for step in range(start + 1, 31):
    if step == 13 and not os.path.exists('hung'):
        open('hung', 'w').close()
        signal.pause()
    if step % 5 == 0:
        with open(f'ckpts/pretrain_step{step:08}.pt', 'wb') as f: pickle.dump(step, f, protocol=2)
    with open('status.json.new', 'w') as f:
        json.dump({'step': step, 'seen_tok': step * 64, 'loss': 5.0 / step, 'batch': 1, 'block': 64,
                   'tok_per_sec': 0.067, 'phase': 'pretrain', 'updated': time.time()}, f)
    os.rename('status.json.new', 'status.json')
    time.sleep(0.02)
)";

class Foreign : public World {
 protected:
  void SetUp() override {
    if (end_of(start({"/usr/bin/env", "python3", "-c", ""})) != 0) {
      GTEST_SKIP() << "python3 is not here";
    }
  }
  void write_protocol(int steps) {
    write("run.yaml", "programs:\n  run:\n    command: [python3, " SOURCE_FOLDER
                      "/examples/trainward_worker.py, " +
                          std::to_string(steps) +
                          "]\n    watch: {protocol: true, checkpoints: "
                          "['{checkpoint_dir}/step-*.json']}\n    checkpoints: {on_stop: true}\n"
                          "    backoff: {first: 20ms}\n");
  }
  void write_script(const std::string& train_floor) {
    write("train.py", script);
    write(
        "run.yaml",
        "programs:\n  run:\n    command: [python3, train.py, [--resume, '{checkpoint}'], --start, "
        "'{resume_step}']\n    watch: {status_file: status.json, checkpoints: "
        "['ckpts/pretrain_step*.pt']}\n    deadlines: {train_floor: " +
            train_floor + "}\n    backoff: {first: 20ms}\n");
  }
};

TEST_F(Foreign, AWorkerWithTheProtocolGoesOnFromItsCheckpointAfterACrash) {
  write_protocol(150);
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() >= 25 && attempts().back().kept_step >= 20; });
  ::kill(worker_pid(), SIGKILL);
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  ASSERT_EQ(attempts().size(), 2U) << daemon_log();
  const store::AttemptRow second = attempts().back();
  EXPECT_GE(second.resume_step, 20);
  EXPECT_EQ(second.first_step, second.resume_step + 1);
  EXPECT_EQ(second.last_step, 150);
  EXPECT_EQ(second.kept_step, 150);
  EXPECT_EQ(second.cause, "done");
  EXPECT_EQ(state(), "EXITED");
}

TEST_F(Foreign, AWorkerWithTheProtocolSavesWhenItIsStopped) {
  write_protocol(100000);
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() >= 13; });
  ask_to_end(daemon);
  EXPECT_EQ(end_of(daemon), 75) << daemon_log();
  EXPECT_EQ(attempts().back().exit_code, 75);
  EXPECT_EQ(attempts().back().kept_step, attempts().back().last_step);
}

TEST_F(Foreign, AScriptThatGoesSilentIsKilledAndResumedFromItsNewestFile) {
  write_script("3s");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  ASSERT_EQ(attempts().size(), 2U);
  const auto first = attempts().front();
  EXPECT_EQ(first.cause, "hang");
  EXPECT_EQ(first.last_step, 12);
  EXPECT_EQ(first.kept_step, 10);
  const auto second = attempts().back();
  EXPECT_EQ(second.resume_step, 10);
  EXPECT_GE(second.first_step, 11);  // the first that was seen in a file that is looked at
  EXPECT_EQ(second.last_step, 30);
  EXPECT_EQ(second.kept_step, 30) << "saved just before it ended";
  EXPECT_EQ(state(), "EXITED");
}

TEST_F(Foreign, ADamagedFileIsPassedOver) {
  write("ckpts/pretrain_step00000020.pt", "\x80\x02K\x14.");
  write("ckpts/pretrain_step00000025.pt", "");
  write("ckpts/pretrain_step00000026.pt", "cut off by a full disk");
  write_script("30s");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  ASSERT_EQ(attempts().size(), 1U);
  EXPECT_EQ(attempts().front().resume_step, 20);
  EXPECT_GE(attempts().front().first_step, 21);  // the first that was seen
}

TEST_F(Foreign, AKilledDaemonsSuccessorCountsEachStepOnce) {
  write_script("30s");
  write("hung", "");  // it does not hang
  const pid_t first = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return last_step() >= 8; });
  ::kill(first, SIGKILL);
  end_of(first);
  const pid_t second = start_daemon({"--once", "run.yaml"});
  EXPECT_EQ(end_of(second), 0) << daemon_log();
  ASSERT_EQ(attempts().size(), 1U) << daemon_log();
  EXPECT_EQ(attempts().front().last_step, 30);
  auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
  EXPECT_LE(store->step_rows("run").value(), 30);
}

// Three lines of configuration, and a script in the manner of nanoGPT that hangs once.
TEST_F(Foreign, AScriptIsWatchedByWhatItPrints) {
  write("train.py", R"(
import os, signal, time
start = 13 if os.path.exists('hung') else 1
print('number of parameters: 10.65M', flush=True)
for i in range(start, 31):
    if i == 13 and start == 1:
        open('hung', 'w').close()
        signal.pause()
    print(f'iter {i}: loss {5.0 / i:.4f}, time 20.00ms, mfu 41.22%', flush=True)
    time.sleep(0.02)
)");
  write(
      "run.yaml",
      "programs:\n  run:\n    command: [python3, train.py]\n    deadlines: {train_floor: 2s, load: "
      "3s}\n    backoff: {first: 20ms}\n");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  ASSERT_EQ(attempts().size(), 2U) << daemon_log();
  EXPECT_EQ(attempts().front().cause, "hang");
  EXPECT_EQ(attempts().front().last_step, 12);
  EXPECT_EQ(attempts().back().first_step, 13);
  EXPECT_EQ(attempts().back().last_step, 30);
  const Output events = run("trainwardctl", {"events", "run"});
  EXPECT_NE(events.out.find("recognised the output of nanoGPT: step, loss"), std::string::npos)
      << events.out << events.err;
}

// Nothing is known of it, so nothing is expected of it; beside it one of which a word was expected.
TEST_F(Foreign, ACommandOfWhichNothingIsRecognisedIsNotJudgedByItsSilence) {
  ASSERT_EQ(::mkfifo(path("go").c_str(), 0600), 0);
  const std::string deadlines =
      "    deadlines: {start: 200ms, load: 200ms, train_floor: 200ms}\n"
      "    backoff: {first: 20ms, max: 20ms}\n";
  write("run.yaml",
        "programs:\n  run:\n    command: [/bin/sh, -c, 'echo loading 3 of 3 files; read line < go; "
        "echo done']\n" +
            deadlines +
            "  other:\n    command: [/bin/sh, -c, 'exec sleep 1000']\n"
            "    watch: {status_file: status.json}\n    budgets: {attempts: 3}\n" +
            deadlines);
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_until([&] { return attempts("other").size() >= 3; });
  EXPECT_EQ(attempts().size(), 1U) << daemon_log();
  EXPECT_EQ(attempts().front().ended_ms, 0) << daemon_log();
  ASSERT_TRUE(open_file(path("go"), O_WRONLY).has_value());
  end_of(daemon);
  ASSERT_EQ(attempts().size(), 1U) << daemon_log();
  EXPECT_EQ(attempts().front().cause, "done");
}

// The first board of this host is broken, so the two share the other one, one after the other; and
// waiting for it costs no attempts.
TEST_F(Foreign, CommandsRunAloneOnTheBoardThatWorks) {
  ASSERT_EQ(::mkfifo(path("go").c_str(), 0600), 0);
  std::string config = "programs:\n";
  for (const char* name : {"a", "b"}) {
    config += fmt::format(
        "  {}:\n    command: [/bin/sh, -c, 'mkdir busy && echo $1 $TT_VISIBLE_DEVICES >> boards && "
        "read line < go; rmdir busy', sh, '{{devices}}']\n    board: {{host: " SOURCE_FOLDER
        "/examples/hosts/two-n300.yaml}}\n    backoff: {{first: 20ms, max: 20ms}}\n",
        name);
  }
  write("run.yaml", config);
  const pid_t daemon = start_daemon({"--once", "run.yaml"});
  const auto boards = [this] { return read_file(path("boards"), 1000).value_or(""); };
  const std::string one = "0000:41:00.0 0000:41:00.0\n";
  wait_until([&] { return boards() == one; });
  const auto waits = [this](const char* name) {
    auto store = store::Store::open_read_only(path(".trainward/trainward.db"));
    const auto row = store ? store->program(name).value_or(std::nullopt) : std::nullopt;
    return row && row->reason.find("another program works on it") != std::string::npos;
  };
  wait_until([&] { return waits("a") || waits("b"); });
  ASSERT_TRUE(open_file(path("go"), O_WRONLY).has_value());
  wait_until([&] { return boards() == one + one; });
  ASSERT_TRUE(open_file(path("go"), O_WRONLY).has_value());
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_LE(attempts_of_all().size(), 3U) << "at most one launch lost the race for the board";
}

TEST_F(Foreign, OutputAloneIsEnoughToWatchBy) {
  write("run.yaml",
        "programs:\n  run:\n    command: [/bin/sh, -c, 'for i in 1 2 3 4 5; do echo "
        "\"step $i loss 0.$i\"; done']\n    watch:\n      log: [{match: 'step (?P<step>\\d+) loss "
        "(?P<loss>[0-9.]+)', phase: train}]\n");
  EXPECT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  ASSERT_EQ(attempts().size(), 1U);
  EXPECT_EQ(attempts().front().last_step, 5);
}

TEST_F(Foreign, WhyTellsWhatARefusingWorkerSaid) {
  write("run.yaml",
        "programs:\n  run:\n    command: [/bin/sh, -c, 'echo reading; echo \"train.yaml:3: lr must "
        "be "
        "above 0\" >&2; echo ----- >&2; exit 78']\n");
  EXPECT_NE(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  ASSERT_EQ(attempts().size(), 1U) << "a retry cannot help";
  EXPECT_EQ(attempts().front().verdict,
            "config: exit code 78: the worker refused its configuration; its last line: "
            "\"train.yaml:3: lr must be above 0\"");
  const Output why = ctl({"why", "run"});
  EXPECT_NE(why.out.find("\"train.yaml:3: lr must be above 0\" [stderr.log:1]"), std::string::npos)
      << why.out << why.err;
}

TEST_F(Foreign, AnExitCodeWithoutAMeaningComesWithTheLastLine) {
  write("run.yaml",
        "programs:\n  run:\n    command: [/bin/sh, -c, 'echo the moon is full; exit 3']\n"
        "    autorestart: never\n");
  run("trainwardd", {"--once", "run.yaml"});
  ASSERT_EQ(attempts().size(), 1U);
  EXPECT_EQ(attempts().front().verdict,
            "unknown: exit code 3; its last line: \"the moon is full\"");
}

// A model's name is no number: an end that nothing explains must not be called a NaN.
TEST_F(Foreign, ANanoModelThatEndsIsNotCalledNaN) {
  write("run.yaml",
        "programs:\n  run:\n    command: [/bin/sh, -c, 'echo nano_3x: 12345 parameters; exit 1']\n"
        "    autorestart: never\n");
  run("trainwardd", {"--once", "run.yaml"});
  ASSERT_EQ(attempts().size(), 1U);
  EXPECT_EQ(attempts().front().cause, "unknown");
}

TEST_F(Foreign, TheExampleForTheSeedsScriptIsValid) {
  const Output output = ctl({"config", "check", SOURCE_FOLDER "/examples/foreign/agillm3.yaml"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
}

}  // namespace
}  // namespace trainward::e2e
