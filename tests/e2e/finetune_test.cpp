// Fine-tuning from a folder and back, as its README says, and with adapters.

#include "finetune.hpp"

#include "checkpoint/huggingface/model/model_folder.hpp"

namespace trainward::e2e {
namespace {

namespace hf = checkpoint::huggingface;

class Finetune : public FinetuneWorld {
 protected:
  // Names, types, shapes and bytes of both folders' tensors.
  void expect_same_tensors(const std::string& a, const std::string& b) {
    const auto left = hf::ModelFolder::open(path(a));
    const auto right = hf::ModelFolder::open(path(b));
    ASSERT_TRUE(left) << left.error().message();
    ASSERT_TRUE(right) << right.error().message();
    ASSERT_EQ(left->tensors().size(), right->tensors().size());
    for (const auto& tensor : left->tensors()) {
      const auto* other = right->find(tensor.info.name);
      ASSERT_NE(other, nullptr) << tensor.info.name;
      EXPECT_EQ(tensor.info.dtype, other->info.dtype) << tensor.info.name;
      EXPECT_EQ(tensor.info.shape, other->info.shape) << tensor.info.name;
      EXPECT_TRUE(std::ranges::equal(tensor.bytes, other->bytes)) << tensor.info.name;
    }
  }
};

TEST_F(Finetune, TheReadmesWay) {
  const Output checked = ctl({"config", "check", "tiny.yaml"});
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  const Output ran = run("trainwardd", {"tiny.yaml", "--once"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const Output exported = ctl({"ckpt", "export", "tiny", "--hf", "tiny-tuned"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  for (const Pair& pair : pairs()) {
    EXPECT_EQ(answer({"--checkpoint", "tiny-tuned"}, pair.prompt), pair.response + "\n");
  }
  const Pair first = pairs().front();
  EXPECT_EQ(answer({"--checkpoint", checkpoints("tiny")}, first.prompt), first.response + "\n");
  const auto state = read_json_file(
      (std::filesystem::path(checkpoints("tiny")) / "step-00000300/state.json").string(), 1 << 20);
  ASSERT_TRUE(state);
  EXPECT_LT(state->at("loss").as_double(), 0.05);
  // Whoever serves the folder knows where an answer ends, and how it is asked.
  const auto generation = read_json_file(path("tiny-tuned/generation_config.json"), 1 << 20);
  ASSERT_TRUE(generation);
  EXPECT_EQ(generation->at("eos_token_id"), 2);
  const auto form = read_file(path("tiny-tuned/chat_template.jinja"), 1 << 20);
  ASSERT_TRUE(form);
  EXPECT_NE(form->find("### Question:"), std::string::npos) << *form;

  const Output shown = run("trainward-worker", {"data", worker_file("tiny")});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("⟦Honey, and wax to keep it in.</s>⟧"), std::string::npos) << shown.out;
  const Output plan = run("trainward-worker", {"plan", worker_file("tiny")});
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_NE(plan.out.find("It fits"), std::string::npos) << plan.out;
}

// As tt-train's lessons write it, on each of their meshes.
TEST_F(Finetune, TheLessonsMeshesTrainAsOneDeviceDoes) {
  std::string rows;
  for (int i = 1; i <= 64; ++i) {
    rows +=
        fmt::format("{{\"prompt\": \"What comes after {}?\", \"response\": \"{}\"}}\n", i, i + 1);
  }
  write("counting.jsonl", rows);
  const auto lesson = [this](const std::string& mesh, const std::string& host, bool divided) {
    std::filesystem::remove_all(path(".trainward"));
    write("run.yaml",
          fmt::format(R"(training_config:
  model_type: llama
  base_model: tiny-model
  batch_size: 32
  num_epochs: 100
  max_steps: 4
  gradient_accumulation_steps: 1
  learning_rate: 1e-3
  weight_decay: 0.01
  use_clip_grad_norm: true
  clip_grad_norm_max_norm: 1.0
  max_sequence_length: 96
  prompt_format: question_answer
  eval_every: 2
  model_save_interval: 2
  seed: 42
device_config:
  enable_ddp: {}
  enable_tp: {}
  mesh_shape: {}
  plugin: sim_n300
  host: {}
data_config:
  train_data: counting.jsonl
  val_data: counting.jsonl
)",
                      mesh != "[1, 1]", divided, mesh, SOURCE_FOLDER "/examples/hosts/" + host));
    const Output ran = run("trainwardd", {"--once", "run.yaml"});
    EXPECT_EQ(ran.code, 0) << mesh << ran.out << ran.err;
    std::vector<double> numbers;
    for (const std::string& loss : losses()) numbers.push_back(std::stod(loss));
    EXPECT_EQ(numbers.size(), 4U) << mesh;
    return numbers;
  };
  const auto alone = lesson("[1, 1]", "t3k.yaml", false);
  for (const auto& [mesh, host, divided] : {std::tuple("[1, 2]", "t3k.yaml", false),
                                            {"[2, 4]", "t3k.yaml", false},
                                            {"[4, 8]", "galaxy.yaml", false},
                                            {"[1, 2]", "t3k.yaml", true},
                                            {"[4, 2]", "t3k.yaml", true}}) {
    const auto together = lesson(mesh, host, divided);
    ASSERT_EQ(together.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_NEAR(together[i], alone[i], 2e-4) << mesh << ", step " << i + 1;
    }
  }
}

TEST_F(Finetune, AdaptersAreExportedAndMerged) {
  write("run.yaml", program_text(std::string(lora) + ", steps: 60"));
  const Output ran = run("trainwardd", {"--once", "run.yaml"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const Output exported = ctl({"ckpt", "export", "run", "--hf", "adapter"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  EXPECT_TRUE(std::filesystem::exists(path("adapter/adapter_config.json")));
  EXPECT_TRUE(std::filesystem::exists(path("adapter/adapter_model.safetensors")));
  const Output merged = ctl({"ckpt", "merge", "run", "--hf", "merged"});
  ASSERT_EQ(merged.code, 0) << merged.err;
  const Output from_peft = ctl({"ckpt", "merge", "adapter", "--hf", "merged-peft"});
  ASSERT_EQ(from_peft.code, 0) << from_peft.err;
  expect_same_tensors("merged", "merged-peft");
  for (const char* prompt : {"What do bees make?", "How many legs has a spider?"}) {
    const std::string said = answer({"--checkpoint", checkpoints()}, prompt);
    EXPECT_EQ(answer({"--checkpoint", "merged"}, prompt), said);
    EXPECT_EQ(answer({"--checkpoint", "adapter"}, prompt), said);
    EXPECT_NE(answer({"--checkpoint", "tiny-model", "--format", "question_answer"}, prompt), said);
  }
}

// A rate that changes no weight: as good as no step.
TEST_F(Finetune, WhatNothingWasTrainedInComesBackByteForByte) {
  write("full.yaml", program_text(", steps: 1", "", "", no_rate));
  const Output full = run("trainwardd", {"--once", "full.yaml"});
  ASSERT_EQ(full.code, 0) << full.out << full.err;
  const Output exported = ctl({"ckpt", "export", "run", "--hf", "back"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  expect_same_tensors("tiny-model", "back");

  // From halves in several files, by adapters.
  const Output halves =
      ctl({"ckpt", "export", "run", "--hf", "halves", "--dtype", "bf16", "--max-shard", "512KiB"});
  ASSERT_EQ(halves.code, 0) << halves.err;
  ASSERT_TRUE(std::filesystem::exists(path("halves/model.safetensors.index.json")));
  std::filesystem::remove_all(path(".trainward"));
  std::string adapters = program_text(std::string(lora) + ", steps: 1", "", "", no_rate);
  adapters.replace(adapters.find("tiny-model"), std::string("tiny-model").size(), "halves");
  write("adapters.yaml", adapters);
  const Output tuned = run("trainwardd", {"--once", "adapters.yaml"});
  ASSERT_EQ(tuned.code, 0) << tuned.out << tuned.err;
  const Output merged = ctl({"ckpt", "merge", "run", "--hf", "merged"});
  ASSERT_EQ(merged.code, 0) << merged.err;
  expect_same_tensors("halves", "merged");
}

TEST_F(Finetune, MoreEpochsInTheFileGoOnWithAFinishedRun) {
  const auto once = [this](const std::string& settings, const std::string& more = "") {
    write("run.yaml", program_text(std::string(lora) + settings, "", more));
    return run("trainwardd", {"--once", "run.yaml"});
  };
  ASSERT_EQ(once(", num_epochs: 1").code, 0);
  const std::int64_t first = attempts().back().last_step;
  ASSERT_EQ(once(", num_epochs: 1", "    checkpoints: {keep: 9}\n").code, 0);
  EXPECT_EQ(attempts().size(), 1U) << "another setting asks for nothing more";
  const Output longer = once(", num_epochs: 3");
  EXPECT_EQ(longer.code, 0) << longer.out << longer.err;
  ASSERT_EQ(attempts().size(), 2U) << longer.out;
  EXPECT_EQ(attempts().back().first_step, first + 1);
  EXPECT_EQ(attempts().back().last_step, 3 * first);
}

TEST_F(Finetune, TheBestAreKeptAndImpatienceIsAnEnd) {
  write("run.yaml",
        program_text(", steps: 2000, dropout: 0.1, evaluate_every: 4, validation_share: 0.2, "
                     "keep_best: 2, patience: 3, checkpoint_every: 4",
                     "", "    checkpoints: {keep: 1}\n", "0.01"));
  const Output ran = run("trainwardd", {"--once", "run.yaml"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_EQ(state(), "EXITED");
  ASSERT_EQ(attempts().size(), 1U) << "nothing is started anew";
  EXPECT_EQ(attempts().back().cause, "done");
  const std::int64_t end = attempts().back().last_step;
  EXPECT_LT(end, 2000);
  const Output listed = ctl({"ckpt", "list", "run", "--json"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  int pinned = 0;
  const json::value rows = json::parse(listed.out);
  for (const auto& row : rows.as_array()) {
    pinned += row.at("pinned").as_bool() ? 1 : 0;
  }
  EXPECT_EQ(pinned, 2) << listed.out;
  // Another start has nothing to do.
  const Output again = run("trainwardd", {"--once", "run.yaml"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_EQ(attempts().back().last_step, end);
}

}  // namespace
}  // namespace trainward::e2e
