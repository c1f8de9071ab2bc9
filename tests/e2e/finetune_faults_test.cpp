// Fine-tuning that is killed, runs out of memory, is shared by processes, or is given what cannot
// be trained: nothing is lost, and a stranger is told what to mend.

#include <sys/mount.h>

#include "finetune.hpp"

namespace trainward::e2e {
namespace {

class FinetuneFaults : public FinetuneWorld {
 protected:
  void wait_for_step(std::int64_t step) {
    wait_until([&] { return last_step() >= step; });
  }
  // Of which the worker said, in any attempt, that they are saved.
  std::vector<std::string> saved_steps() {
    std::vector<std::string> out;
    for (const store::AttemptRow& attempt : attempts()) {
      const std::string log = stdout_of(attempt.number);
      constexpr std::string_view words = "saved step ";
      for (std::size_t at = 0; (at = log.find(words, at)) != log.npos;) {
        at += words.size();
        out.push_back(log.substr(at, log.find(' ', at) - at));
      }
    }
    return out;
  }
};

TEST_F(FinetuneFaults, KillsChangeNotOneBit) {
  // As many steps as no worker has done before the next daemon is there, however busy the machine.
  const std::string settings =
      std::string(lora) + all_at_once + ", steps: 300, checkpoint_every: 7";
  write("run.yaml", program_text(settings));
  const Output calm = run("trainwardd", {"--once", "run.yaml"});
  ASSERT_EQ(calm.code, 0) << calm.out << calm.err;
  const std::string undisturbed = digest();
  std::filesystem::remove_all(path(".trainward"));

  pid_t daemon = start_daemon({"--once", "run.yaml"});
  wait_for_step(9);  // an epoch has 5 steps or so
  ::kill(worker_pid(), SIGKILL);
  wait_until([&] { return attempts().size() >= 2 && last_step() >= 17; });
  ::kill(daemon, SIGKILL);
  EXPECT_EQ(end_of(daemon), -SIGKILL);
  daemon = start_daemon({"--once", "run.yaml"});
  wait_for_step(31);
  ::kill(worker_pid(), SIGKILL);
  wait_until([&] { return attempts().size() >= 3; });
  const pid_t third = worker_pid();  // nobody records it without a daemon
  ::kill(daemon, SIGKILL);
  ::kill(third, SIGKILL);
  end_of(daemon);
  daemon = start_daemon({"--once", "run.yaml"});
  EXPECT_EQ(end_of(daemon), 0) << daemon_log();
  EXPECT_EQ(attempts().back().cause, "done");
  EXPECT_EQ(digest(), undisturbed);
}

// On a card with less memory the supervisor cuts the same step into smaller pieces.
TEST_F(FinetuneFaults, OutOfMemoryMakesTheBatchSmallerAndTheStepsStayTheSame) {
  const auto train = [&](const std::string& memory) {
    std::filesystem::remove_all(path(".trainward"));
    write("host.yaml", "boards:\n" + healthy_board("{dram_bytes: " + memory + "}"));
    write("run.yaml", program_text(std::string(lora) + ", packing: true, steps: 8",
                                   simulated + ", host: host.yaml",
                                   "    plan: {accumulate: true, recompute: true}\n"));
    return run("trainwardd", {"--once", "run.yaml"});
  };
  const Output roomy = train("1000000000");
  ASSERT_EQ(roomy.code, 0) << roomy.out << roomy.err;
  ASSERT_EQ(attempts().size(), 1U);
  const auto whole = losses();
  const Output narrow = train("18500000");
  ASSERT_EQ(narrow.code, 0) << narrow.out << narrow.err;
  EXPECT_NE(narrow.out.find("a smaller plan"), std::string::npos) << narrow.out;
  EXPECT_EQ(attempts().front().cause, "device_oom");
  EXPECT_EQ(attempts().back().cause, "done");
  const auto halves = losses(static_cast<std::int64_t>(attempts().size()));
  ASSERT_EQ(whole.size(), 8U);
  ASSERT_EQ(halves.size(), 8U);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_NEAR(std::stod(whole[i]), std::stod(halves[i]), 2e-3) << "step " << i + 1;
  }
}

TEST_F(FinetuneFaults, ASmallerPlanGoesOnFromTheSameCheckpoint) {
  write("run.yaml", program_text(std::string(lora) + ", packing: true, steps: 12, "
                                                     "checkpoint_every: 4"));
  ASSERT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  const auto whole = losses();
  ASSERT_EQ(whole.size(), 12U);
  for (const char* plan :
       {R"({"batch":1,"accumulation":2})", R"({"block":64})", R"({"recompute":true})"}) {
    const std::string folder = "other";
    std::filesystem::remove_all(path(folder));
    std::filesystem::create_directories(path(folder));
    std::filesystem::copy(path(".trainward/runs/run/checkpoints/step-00000004"),
                          path(folder + "/step-00000004"),
                          std::filesystem::copy_options::recursive);
    const Output went_on =
        run("/usr/bin/env",
            {std::string("TRAINWARD_PLAN=") + plan, program("trainward-worker"), "train",
             "--config", worker_file(), "--checkpoint-dir", folder, "--resume", "auto"});
    EXPECT_EQ(went_on.code, 0) << plan << went_on.err;
    EXPECT_TRUE(std::filesystem::exists(path(folder + "/step-00000012"))) << plan;
  }
}

TEST_F(FinetuneFaults, TwoRanksTakeTheSameSteps) {
  const std::string settings =
      std::string(lora) + ", packing: true, dropout: 0.1, steps: 10, accumulation: 2";
  write("run.yaml", program_text(settings));
  const Output one = run("trainwardd", {"--once", "run.yaml"});
  ASSERT_EQ(one.code, 0) << one.out << one.err;
  const auto alone = losses();
  std::filesystem::remove_all(path(".trainward"));
  write("run.yaml", program_text(settings, ", mesh_shape: [1, 2], enable_ddp: true"));
  const Output two = run("trainwardd", {"--once", "run.yaml"});
  ASSERT_EQ(two.code, 0) << two.out << two.err;
  const auto together = losses();
  ASSERT_EQ(alone.size(), 10U);
  ASSERT_EQ(together.size(), 10U);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_NEAR(std::stod(alone[i]), std::stod(together[i]), 2e-4) << "step " << i + 1;
  }
}

// ---- what cannot be trained ----

struct BadInput {
  const char* name;
  const char* breaks;   // a line of Python in the folder, with `edit(file, key, value)`
  const char* setting;  // of the program, besides the usual ones
  std::vector<const char*> told;
};

const std::vector<BadInput> bad_inputs{
    {"a file cut short",
     "cut('tiny-model/model.safetensors')",
     "",
     {"tiny-model/model.safetensors", "is cut short", "download"}},
    {"an index that names a missing file",
     "os.rename('tiny-model/model.safetensors', 'tiny-model/a.safetensors'); "
     "write('tiny-model/model.safetensors.index.json', {'metadata': {}, 'weight_map': "
     "{'model.norm.weight': 'a.safetensors', 'lm_head.weight': 'b.safetensors'}})",
     "",
     {"tiny-model/b.safetensors", "is missing"}},
    {"another family",
     "edit('config.json', 'model_type', 'gemma2')",
     "",
     {"tiny-model/config.json", "'gemma2'", "llama"}},
    {"a shape that does not fit",
     "edit('config.json', 'intermediate_size', 400)",
     "",
     {"tiny-model", "model.layers.0.mlp.gate_proj.weight", "f32[384,128]", "f32[400,128]"}},
    {"fewer tokens than the tokenizer has",
     "edit('config.json', 'vocab_size', 400)",
     "",
     {"config.json", "400", "416", "tokenizer.json"}},
    {"no config.json",
     "os.remove('tiny-model/config.json')",
     "",
     {"tiny-model", "holds no config.json"}},
    {"no tokenizer.json",
     "os.remove('tiny-model/tokenizer.json')",
     "",
     {"training_config.base_model", "tiny-model", "holds no tokenizer.json"}},
    {"no row with an answer",
     "open('pairs.jsonl', 'w').write('{\"prompt\": \"a\"}\\n{\"prompt\": \"b\"}\\n')",
     "",
     {"pairs.jsonl", "2 rows bad, the first row 1", "response"}},
    {"no example at all", "open('pairs.jsonl', 'w')", "", {"pairs.jsonl", "not empty"}},
    {"rows that are all too long",
     "",
     ", block_size: 8, too_long: drop",
     {"pairs.jsonl", "20 are longer than block_size 8", "make block_size larger"}},
    {"no room for any answer",
     "",
     ", block_size: 8",
     {"pairs.jsonl", "lose their whole answer within block_size 8", "keep_end"}},
};

constexpr const char* breaking = R"(
import json, os
def cut(file):
    size = os.path.getsize(file)
    os.truncate(file, size // 2)
def write(file, value):
    with open(file, 'w') as out: json.dump(value, out)
def edit(file, key, value):
    with open('tiny-model/' + file) as read: all = json.load(read)
    all[key] = value
    write('tiny-model/' + file, all)
)";

TEST_F(FinetuneFaults, WhatCannotBeTrainedIsToldToAStranger) {
  for (const BadInput& bad : bad_inputs) {
    SCOPED_TRACE(bad.name);
    std::filesystem::remove_all(path(".trainward"));
    std::filesystem::remove_all(path("tiny-model"));
    std::filesystem::copy_file(SOURCE_FOLDER "/examples/finetune/pairs.jsonl", path("pairs.jsonl"),
                               std::filesystem::copy_options::overwrite_existing);
    ASSERT_EQ(run(python, {"make_tiny_model.py"}).code, 0);
    const Output broke = run(python, {"-c", std::string(breaking) + bad.breaks});
    ASSERT_EQ(broke.code, 0) << broke.err;
    std::string text = program_text(std::string(", steps: 4") + bad.setting);
    if (std::string_view(bad.setting).find("block_size") != std::string_view::npos) {
      text.erase(text.find(" block_size: 96,"), std::string_view(" block_size: 96,").size());
    }
    write("run.yaml", text);
    const Output ran = run("trainwardd", {"--once", "run.yaml"});
    EXPECT_EQ(ran.code, 78) << ran.out << ran.err;
    EXPECT_EQ(attempts().size(), 1U) << "trying again cannot help";
    EXPECT_EQ(state(), "FATAL");
    const Output why = ctl({"why", "run"});
    const Output by_hand = run("trainward-worker",
                               {"train", "--config", worker_file(), "--checkpoint-dir", "by-hand"});
    EXPECT_EQ(by_hand.code, 78) << by_hand.err;
    for (const char* word : bad.told) {
      EXPECT_NE(ran.out.find(word), std::string::npos) << word << "\n" << ran.out;
      EXPECT_NE(why.out.find(word), std::string::npos) << word << "\n" << why.out;
      EXPECT_NE(by_hand.err.find(word), std::string::npos) << word << "\n" << by_hand.err;
    }
  }
}

TEST_F(FinetuneFaults, WhatTheConfigurationAloneShowsIsRefusedWithItsLine) {
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string text = program_text(", steps: 4");
    text.replace(text.find(from), from.size(), to);
    write("run.yaml", text);
    const Output ran = run("trainwardd", {"--once", "run.yaml"});
    EXPECT_EQ(ran.code, 78) << ran.err;
    return ran.err;
  };
  const std::string hub = refused("tiny-model", "TinyLlama/TinyLlama-1.1B-Chat-v1.0");
  EXPECT_NE(hub.find("run.yaml:3:"), std::string::npos) << hub;
  EXPECT_NE(hub.find("Nothing is downloaded"), std::string::npos) << hub;
  const std::string data = refused("pairs.jsonl", "paris.jsonl");
  EXPECT_NE(data.find("training_config.data: no such file or folder"), std::string::npos) << data;
}

// A row without an answer costs that row, and is put aside with its place.
TEST_F(FinetuneFaults, OneBadRowIsLeftOut) {
  write("pairs.jsonl", "{\"prompt\": \"a\", \"response\": \"b\"}\n{\"prompt\": \"what\"}\n");
  write("run.yaml", program_text(", steps: 2"));
  ASSERT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  const auto told = read_file(path(".trainward/runs/run/attempts/0001/stderr.log"), 1 << 20);
  EXPECT_NE(told->find("pairs.jsonl:2: has no 'response'"), std::string::npos) << *told;
  const auto aside = read_json_file(checkpoints() + "/bad-lines.jsonl", 1 << 20);
  ASSERT_TRUE(aside);
  EXPECT_EQ(aside->at("line"), 2);
}

// Checkpoints on a small file system of their own, where this user may mount one.
TEST_F(FinetuneFaults, AFullDiskLosesNothing) {
  std::filesystem::create_directories(checkpoints());
  if (::mount("tmpfs", checkpoints().c_str(), "tmpfs", 0, "size=14m") != 0) {
    GTEST_SKIP() << "this user may not mount anything";
  }
  write("run.yaml", program_text(", steps: 200, checkpoint_every: 2", "",
                                 "    checkpoints: {keep: 9}\n    budgets: {attempts: 3}\n"));
  const Output ran = run("trainwardd", {"--once", "run.yaml"});
  const Output why = ctl({"why", "run"});
  const Output verified = ctl({"ckpt", "verify", checkpoints()});
  ::umount2(checkpoints().c_str(), MNT_DETACH);
  EXPECT_NE(ran.code, 0) << ran.out;
  EXPECT_EQ(attempts().back().cause, "disk");
  EXPECT_NE(ran.out.find("the disk is too full"), std::string::npos) << ran.out;
  EXPECT_NE(why.out.find("ckpt prune"), std::string::npos) << why.out;
  EXPECT_EQ(verified.code, 0) << verified.out;
  // Which steps these are depends on how long a save takes: the next one waits for it.
  const std::vector<std::string> steps = saved_steps();
  EXPECT_GE(steps.size(), 2U);
  for (const std::string& step : steps) {
    EXPECT_NE(verified.out.find("ok, step " + step + "\n"), std::string::npos) << step << "\n"
                                                                               << verified.out;
  }
}

TEST_F(FinetuneFaults, AnotherBaseModelIsNotGoneOnWith) {
  write("run.yaml", program_text(std::string(lora) + ", steps: 4"));
  ASSERT_EQ(run("trainwardd", {"--once", "run.yaml"}).code, 0);
  const auto note = read_json_file(checkpoints() + "/base-model.json", 1 << 20);
  ASSERT_TRUE(note);
  const std::string before = string_or(note->as_object(), "digest", "");
  // The same sizes, other weights.
  ASSERT_EQ(run("/usr/bin/sed", {"-i", "s/Random(20)/Random(21)/", "make_tiny_model.py"}).code, 0);
  ASSERT_EQ(run(python, {"make_tiny_model.py"}).code, 0);
  write("more.yaml", program_text(std::string(lora) + ", steps: 8"));
  run("trainwardd", {"--once", "more.yaml"});
  const Output by_hand = run(
      "trainward-worker",
      {"train", "--config", worker_file(), "--checkpoint-dir", checkpoints(), "--resume", "auto"});
  EXPECT_EQ(by_hand.code, 78) << by_hand.err;
  const auto other = read_json_file(checkpoints() + "/base-model.json", 1 << 20);
  const std::string after = string_or(other->as_object(), "digest", "");
  EXPECT_NE(before, after);
  EXPECT_NE(by_hand.err.find(before), std::string::npos) << by_hand.err;
  EXPECT_NE(by_hand.err.find(after), std::string::npos) << by_hand.err;
  EXPECT_NE(by_hand.err.find("start a new run"), std::string::npos) << by_hand.err;
  const Output merged = ctl({"ckpt", "merge", "run", "--hf", "merged"});
  EXPECT_NE(merged.code, 0) << "adapters are of their own base alone";
}

}  // namespace
}  // namespace trainward::e2e
