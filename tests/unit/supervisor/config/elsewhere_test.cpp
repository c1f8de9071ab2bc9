// Files as the lessons, tt-train and tt-blacksmith have them, read as what they mean there.
#include <gmock/gmock.h>

#include <set>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "fixture.hpp"
#include "supervisor/config/elsewhere/hints.hpp"
#include "supervisor/config/elsewhere/key_names.hpp"

namespace trainward::config {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Elsewhere : public ConfigTest {
 protected:
  void SetUp() override {
    ConfigTest::SetUp();
    std::filesystem::create_directories(folder_ / "TinyLlama");
    write("TinyLlama/config.json", R"({"model_type": "llama"})");
    write("TinyLlama/tokenizer.json", "{}");
    for (const char* name : {"train.jsonl", "val.jsonl"}) write(name, "{}\n");
  }

  // A file of tests/unit/supervisor/config/elsewhere, with more set on the command line.
  tl::expected<Config, std::vector<Problem>> file(const std::string& name,
                                                  const std::vector<std::string>& more = {}) {
    auto text = read_file(SOURCE_FOLDER "/tests/unit/supervisor/config/elsewhere/" + name, 1 << 20);
    EXPECT_TRUE(text) << name;
    return load_text(text ? *text : "", more);
  }
  static std::string said(const std::vector<Problem>& problems) {
    std::string all;
    for (const Problem& problem : problems) all += problem.text() + "\n";
    return all;
  }
  // What the worker is given when the program has just this in its training_config.
  json::object training(const std::string& members) {
    const auto config = load_text("programs: {a: {training_config: {" + members + "}}}\n");
    EXPECT_TRUE(config) << members << "\n" << (config ? "" : said(config.error()));
    return config ? config->programs[0].worker.at("training_config").as_object() : json::object();
  }
  std::vector<std::string> notes(const std::string& members) {
    const auto config = load_text("programs: {a: {training_config: {" + members + "}}}\n");
    EXPECT_TRUE(config) << (config ? "" : said(config.error()));
    std::vector<std::string> out;
    if (!config) return out;
    for (const Problem& note : config->notes) out.push_back(note.message);
    return out;
  }
  std::vector<std::string> refused(const std::string& members) {
    return wrong("training_config: {" + members + "}");
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
};

// ---- the three shapes ----

TEST_F(Elsewhere, TheLessonsShape) {
  const auto config = file("lesson.yaml");
  ASSERT_TRUE(config) << said(config.error());
  ASSERT_EQ(config->programs.size(), 1U);
  const json::object& worker = config->programs[0].worker;
  const json::object& training = worker.at("training_config").as_object();
  EXPECT_EQ(training.at("base_model"), json::value(path("TinyLlama")));
  EXPECT_EQ(training.at("batch_size"), json::value(8));
  EXPECT_FALSE(training.contains("validation_batch_size"));
  EXPECT_EQ(training.at("num_epochs"), json::value(3));
  EXPECT_EQ(training.at("steps"), json::value(500));
  EXPECT_EQ(training.at("accumulation"), json::value(2));
  EXPECT_EQ(training.at("learning_rate"), json::value(1e-4));
  EXPECT_EQ(training.at("head_learning_rate"), json::value(1e-4)) << "one rate is all of it";
  EXPECT_EQ(training.at("weight_decay"), json::value(0.01));
  EXPECT_EQ(training.at("seed"), json::value(42));
  EXPECT_EQ(training.at("gradient_clip"), json::value(1.0));
  EXPECT_EQ(training.at("evaluate_every"), json::value(50));
  EXPECT_EQ(training.at("checkpoint_every"), json::value(100));
  EXPECT_EQ(training.at("schedule"), json::value("constant"));
  EXPECT_EQ(training.at("data"), json::value(json::array{path("train.jsonl")}));
  EXPECT_EQ(training.at("validation_data"), json::value(json::array{path("val.jsonl")}));
  EXPECT_EQ(training.at("tokenizer"), json::value(path("TinyLlama/tokenizer.json")));
  const json::object& samples = training.at("samples").as_object();
  EXPECT_EQ(samples.at("temperature"), json::value(0.0));
  EXPECT_EQ(samples.at("top_k"), json::value(50));
  EXPECT_EQ(samples.at("top_p"), json::value(1.0));
  EXPECT_EQ(samples.at("repetition_penalty"), json::value(1.0));
  EXPECT_FALSE(training.contains("lora"));
  const json::object& device = worker.at("device_config").as_object();
  EXPECT_EQ(device.at("enable_ddp"), json::value(true));
  EXPECT_EQ(device.at("mesh_shape"), json::value(json::array{1, 2}));
  std::string notes;
  for (const Problem& note : config->notes) notes += note.message + "\n";
  EXPECT_THAT(notes, AllOf(HasSubstr("model_config is not read: the config.json of base_model"),
                           HasSubstr("use_moreh_adamw does nothing here: the optimizer is always"),
                           HasSubstr("log_level does nothing here: the log's level stands")));
}

TEST_F(Elsewhere, TtTrainsShapeFromScratch) {
  const auto config = file("tt_train_nano.yaml");
  ASSERT_TRUE(config) << said(config.error());
  const json::object& training = config->programs[0].worker.at("training_config").as_object();
  EXPECT_EQ(training.at("steps"), json::value(5000));
  EXPECT_EQ(training.at("num_epochs"), json::value(1));
  EXPECT_EQ(training.at("batch_size"), json::value(64));
  EXPECT_EQ(training.at("learning_rate"), json::value(3e-4));
  EXPECT_EQ(training.at("beta2"), json::value(0.99));
  EXPECT_EQ(training.at("epsilon"), json::value(1e-8));
  EXPECT_EQ(training.at("gradient_clip"), json::value(0.0)) << "use_clip_grad_norm: false";
  EXPECT_EQ(training.at("schedule"), json::value("linear"));
  EXPECT_EQ(training.at("block_size"), json::value(256));
  EXPECT_EQ(training.at("vocabulary"), json::value(96 * 32));
  EXPECT_EQ(training.at("recompute"), json::value(true));
  EXPECT_EQ(training.at("dropout"), json::value(0.0));
  const json::object& llama = training.at("llama").as_object();
  EXPECT_EQ(llama.at("hidden"), json::value(384));
  EXPECT_EQ(llama.at("intermediate"), json::value(1024));
  EXPECT_EQ(llama.at("layers"), json::value(6));
  EXPECT_EQ(llama.at("heads"), json::value(6));
  EXPECT_EQ(llama.at("kv_heads"), json::value(3));
  EXPECT_EQ(llama.at("rope_theta"), json::value(500000.0));
  EXPECT_EQ(llama.at("max_position_embeddings"), json::value(256));
  EXPECT_EQ(llama.at("tie_word_embeddings"), json::value(true));
  const json::object& rope = llama.at("rope_scaling").as_object();
  EXPECT_EQ(rope.at("type"), json::value("llama3"));
  EXPECT_EQ(rope.at("factor"), json::value(32.0));
  EXPECT_EQ(rope.at("low_freq_factor"), json::value(1.0));
  EXPECT_EQ(rope.at("high_freq_factor"), json::value(4.0));
  EXPECT_EQ(rope.at("original_max_position_embeddings"), json::value(8192));
}

TEST_F(Elsewhere, TtTrainsShapeOfATunedModel) {
  const auto config = file("tt_train_gsm8k.yaml");
  ASSERT_TRUE(config) << said(config.error());
  const json::object& training = config->programs[0].worker.at("training_config").as_object();
  EXPECT_EQ(training.at("steps"), json::value(160));
  EXPECT_EQ(training.at("batch_size"), json::value(1));
  EXPECT_EQ(training.at("accumulation"), json::value(64));
  EXPECT_EQ(training.at("learning_rate"), json::value(1e-4));
  EXPECT_NEAR(training.at("final_learning_rate_share").as_double(), 0.3, 1e-12);
  EXPECT_EQ(training.at("warmup_steps"), json::value(20));
  EXPECT_EQ(training.at("hold_steps"), json::value(40));
  EXPECT_EQ(training.at("schedule"), json::value("linear"));
  EXPECT_EQ(training.at("evaluate_every"), json::value(20));
  EXPECT_EQ(training.at("checkpoint_every"), json::value(50));
  const json::object& lora = training.at("lora").as_object();
  EXPECT_EQ(lora.at("r"), json::value(8));
  EXPECT_EQ(lora.at("lora_alpha"), json::value(16.0));
  EXPECT_EQ(lora.at("target_modules"), json::value(json::array{"q_proj", "v_proj"}));
}

TEST_F(Elsewhere, TtBlacksmithsFlatShape) {
  const auto config = file("tt_blacksmith.yaml");
  ASSERT_TRUE(config) << said(config.error());
  EXPECT_EQ(config->log_level, "info");
  const Program& program = config->programs[0];
  const json::object& training = program.worker.at("training_config").as_object();
  EXPECT_EQ(training.at("base_model"), json::value(path("TinyLlama")));
  EXPECT_EQ(training.at("data"), json::value(json::array{path("train.jsonl")}));
  EXPECT_EQ(training.at("prompt_format"), json::value("alpaca"));
  EXPECT_EQ(training.at("column_mapping"),
            json::value(json::object{{"instruction", "question"}, {"output", "answer"}}));
  EXPECT_EQ(training.at("block_size"), json::value(128));
  EXPECT_EQ(training.at("precision"), json::value("bf16"));
  EXPECT_EQ(training.at("learning_rate"), json::value(2e-5));
  EXPECT_EQ(training.at("batch_size"), json::value(32));
  EXPECT_EQ(training.at("accumulation"), json::value(2));
  EXPECT_EQ(training.at("recompute"), json::value(true));
  EXPECT_EQ(training.at("weight_decay"), json::value(0.0));
  EXPECT_EQ(training.at("num_epochs"), json::value(1));
  EXPECT_EQ(training.at("steps"), json::value(0)) << "as long as its epochs";
  EXPECT_EQ(training.at("gradient_clip"), json::value(0.0)) << "an infinite norm";
  EXPECT_EQ(training.at("evaluate_every"), json::value(25));
  EXPECT_EQ(training.at("keep_best"), json::value(3));
  EXPECT_EQ(training.at("seed"), json::value(23));
  EXPECT_EQ(program.checkpoints_keep, 2);
  const json::object& lora = training.at("lora").as_object();
  EXPECT_EQ(lora.at("r"), json::value(4));
  EXPECT_EQ(lora.at("lora_alpha"), json::value(8.0));
  EXPECT_EQ(lora.at("target_modules"), json::value(json::array{"all-linear"}));
  EXPECT_EQ(program.worker.at("logging_config").at("log_every"), json::value(25));
  EXPECT_EQ(program.worker.at("device_config").at("mesh_shape"), json::value(json::array{1, 1}));
}

TEST_F(Elsewhere, TheCommandLineNamesTheModel) {
  const std::string text = "training_config: {model_config: sizes/tinyllama.yaml, max_steps: 5}\n";
  EXPECT_THAT(problems(text), ElementsAre(AllOf(HasSubstr("1:33: programs.c.training_config."
                                                          "model_config: the text"),
                                                HasSubstr("base_model: FOLDER"))));
  EXPECT_TRUE(load_text(text, {"programs.c.training_config.base_model=" + path("TinyLlama")}));
}

// As they are, beside the folders that they need.
TEST_F(Elsewhere, TheExamplesAreRead) {
  const std::string examples = SOURCE_FOLDER "/examples/finetune/";
  std::filesystem::create_directories(folder_ / "tiny-model");
  std::filesystem::create_directories(folder_ / "TinyLlama-1.1B-Chat-v1.0");
  std::filesystem::copy_file(examples + "pairs.jsonl", folder_ / "pairs.jsonl");
  const auto of = [&](const std::string& name) {
    auto text = read_file(examples + name, 1 << 20);
    // The home folder of this test is where everything else lies, too.
    for (auto at = text->find("~/"); at != std::string::npos; at = text->find("~/")) {
      text->erase(at, 2);
    }
    const auto config = load_text(*text);
    EXPECT_TRUE(config) << name << "\n" << (config ? "" : said(config.error()));
    return config ? config->programs.at(0) : Program{};
  };
  const Program tiny = of("tiny.yaml");
  EXPECT_EQ(tiny.name, "tiny");
  const json::object& training = tiny.worker.at("training_config").as_object();
  EXPECT_EQ(training.at("base_model"), json::value(path("tiny-model")));
  EXPECT_EQ(training.at("steps"), json::value(300));
  EXPECT_EQ(training.at("schedule"), json::value("linear"));
  EXPECT_EQ(training.at("prompt_format"), json::value("question_answer"));
  EXPECT_EQ(training.at("samples").at("prompts").as_array().size(), 2U);
  const Program lesson = of("lesson.yaml");
  EXPECT_EQ(lesson.name, "c") << "after its file, which is c.yaml here";
  const json::object& theirs = lesson.worker.at("training_config").as_object();
  EXPECT_EQ(theirs.at("base_model"), json::value(path("TinyLlama-1.1B-Chat-v1.0")));
  EXPECT_EQ(theirs.at("steps"), json::value(500));
  EXPECT_EQ(theirs.at("block_size"), json::value(256));
  EXPECT_EQ(theirs.at("evaluate_every"), json::value(50));
  EXPECT_EQ(theirs.at("validation_share"), json::value(0.1));
  EXPECT_EQ(lesson.worker.at("device_config").at("mesh_shape"), json::value(json::array{1, 2}));
}

// ---- what our own keys can be ----

TEST_F(Elsewhere, ThreeWaysToSayWhichModel) {
  EXPECT_EQ(training("model: {folder: TinyLlama}").at("base_model"),
            json::value(path("TinyLlama")));
  EXPECT_EQ(training("model: {config: TinyLlama/config.json}").at("model_config"),
            json::value(path("TinyLlama/config.json")));
  EXPECT_EQ(training("model: {llama: {hidden: 64, layers: 2, heads: 4}}"),
            training("llama: {hidden: 64, layers: 2, heads: 4}"));
  EXPECT_THAT(refused("model: {lama: {hidden: 64}}"), ElementsAre(HasSubstr("unknown key 'lama'")));
  EXPECT_THAT(refused("model: nano_1x, base_model: TinyLlama"),
              ElementsAre(HasSubstr("says what is trained, and so does 'model'")));
  EXPECT_THAT(refused("llama: {hidden: 64, layers: 2}"),
              ElementsAre(HasSubstr("llama.heads: is missing")));
  EXPECT_THAT(refused("llama: {hidden: 64, layers: 2, heads: 5}"),
              ElementsAre(HasSubstr("does not divide hidden")));
  EXPECT_THAT(refused("llama: {hidden: 64, layers: 2, heads: 4, kv_heads: 3}"),
              ElementsAre(HasSubstr("4 heads cannot be shared")));
  EXPECT_THAT(refused("base_model: TinyLama"),
              ElementsAre(HasSubstr("no such folder: " + path("TinyLama"))));
}

TEST_F(Elsewhere, AdaptersNeedAModelAndOnlyTheirMap) {
  EXPECT_EQ(training("base_model: TinyLlama, lora: {}").at("lora").at("r"), json::value(8));
  EXPECT_EQ(training("base_model: TinyLlama, lora: {target_modules: all-linear}")
                .at("lora")
                .at("target_modules"),
            json::value(json::array{"all-linear"}));
  EXPECT_THAT(refused("lora: {}"), ElementsAre(HasSubstr("name its folder: base_model")));
  EXPECT_THAT(refused("base_model: TinyLlama, lora: {target_modules: [query]}"),
              ElementsAre(HasSubstr("expected a list of some of q_proj")));
}

TEST_F(Elsewhere, ARunEndsSomewhere) {
  EXPECT_EQ(training("num_epochs: 3").at("steps"), json::value(0));
  EXPECT_EQ(training("num_epochs: 3, steps: 5").at("steps"), json::value(5));
  EXPECT_EQ(training("lr: 1e-4").at("steps"), json::value(300));
  EXPECT_THAT(refused("steps: 0"), ElementsAre(HasSubstr("no num_epochs says how long")));
}

// ---- each rule ----

TEST_F(Elsewhere, TwoKeysForOneThingAreNamed) {
  EXPECT_THAT(refused("steps: 5, max_steps: 5"),
              ElementsAre("3:33: programs.a.training_config.max_steps: says the same as "
                          "'programs.a.training_config.steps'; keep one of them"));
  EXPECT_THAT(refused("eval_every: 5, eval_steps: 6"),
              ElementsAre(AllOf(HasSubstr("eval_steps: says the same as"),
                                HasSubstr("training_config.eval_every'"))));
  EXPECT_THAT(refused("lr: 1e-3, optimizer: {lr: 1e-4}"),
              ElementsAre(AllOf(HasSubstr("optimizer.lr: says the same as"),
                                HasSubstr("training_config.lr'"))));
  EXPECT_THAT(refused("learning_rate: 1e-4, scheduler_config: {max_lr: 1e-3}"),
              ElementsAre(HasSubstr("scheduler_config.max_lr: says the same as")));
  EXPECT_EQ(training("learning_rate: 1e-3, scheduler_config: {max_lr: 0.001}").at("schedule"),
            json::value("linear"));
}

TEST_F(Elsewhere, Schedules) {
  const auto is = [&](const std::string& members) {
    return std::string(training(members).at("schedule").as_string());
  };
  EXPECT_EQ(is("scheduler_type: identity"), "constant");
  EXPECT_EQ(is("scheduler_type: warmup_linear"), "linear");
  EXPECT_EQ(is("lr_scheduler_type: cosine"), "cosine");
  EXPECT_EQ(training("lr_scheduler_type: linear").at("final_learning_rate_share"),
            json::value(0.0));
  EXPECT_EQ(training("scheduler_type: warmup_linear").at("final_learning_rate_share"),
            json::value(0.1));
  EXPECT_EQ(training("scheduler_type: identity, scheduler_config: {max_lr: 1, warmup_steps: 9}")
                .at("warmup_steps"),
            json::value(0))
      << "a constant rate knows no warm-up there";
  EXPECT_THAT(refused("scheduler_type: polynomial"),
              ElementsAre(HasSubstr("expected one of identity, constant, warmup_linear")));
  EXPECT_THAT(refused("min_lr: 1e-5"),
              ElementsAre(HasSubstr("learning_rate, which must be given")));
  EXPECT_THAT(refused("lr: 1e-5, min_lr: 1e-4"), ElementsAre(HasSubstr("from 0 to learning_rate")));
}

TEST_F(Elsewhere, Clipping) {
  const auto is = [&](const std::string& members) {
    return training(members).at("gradient_clip").to_number<double>();
  };
  EXPECT_EQ(is("use_clip_grad_norm: true, clip_grad_norm_max_norm: 0.5"), 0.5);
  EXPECT_EQ(is("use_clip_grad_norm: false, clip_grad_norm_max_norm: 0.5"), 0);
  EXPECT_EQ(is("use_clip_grad_norm: true"), 1);
  EXPECT_EQ(is("max_grad_norm: .inf"), 0);
  EXPECT_THAT(refused("use_clip_grad_norm: maybe"), ElementsAre(HasSubstr("true or false")));
}

TEST_F(Elsewhere, WhatIsNotDoneIsRefusedWithWhatToDo) {
  const auto says = [&](const std::string& members, const std::string& what) {
    EXPECT_THAT(refused(members), ElementsAre(HasSubstr(what))) << members;
  };
  says("tokenizer_type: char", "name a tokenizer.json");
  says("tokenizer_type: bpe", "bpe needs a tokenizer.json");
  says("optimizer: {type: SGD}", "expected one of AdamW");
  says("optimizer: {amsgrad: true}", "no such variant");
  says("optimizer: {momentum: 0.9}", "unknown key 'momentum'; known here: type, lr");
  says("use_kahan_summation: true", "weights are f32 here");
  says("use_wandb: perhaps", "expected true or false");
  says("report_to: comet_ml", "expected one of none, tensorboard, wandb, mlflow, all");
  says("report_to: [mlflow]", "logging_config: {mlflow: http://HOST:PORT}");
  says("checkpoint_dir: out", "checkpoints lie in STATE_DIR/runs/NAME/checkpoints");
  says("output_dir: out", "checkpoints lie in STATE_DIR/runs/NAME/checkpoints");
  says("save_strategy: epoch", "expected one of steps, step");
  says("training_type: adapters", "expected lora or full");
  says("model_name: meta-llama/Llama-3.2-1B", "nothing is downloaded; name the model's folder");
  says("dataset_id: databricks/dolly", "nothing is downloaded; name the files");
  says("model_type: llama", "nothing says which model: base_model: FOLDER");
  says("base_model: TinyLlama, model_type: gpt2", "the model in base_model is a llama");
  says("model_type: gpt2, transformer_config: {embedding_dim: 64}", "are presets here");
  says("base_model: TinyLlama, lora_config: {modules_to_save: [embed_tokens]}", "only adapters");
  says("base_model: TinyLlama, lora_config: {bias: all}", "expected one of none");
  says("use_tt: true", "device_config: {plugin: FILE}");
  says("resume_option: best", "expected one of last");
  says("checkpoint_metric_mode: max", "expected one of min");
  EXPECT_THAT(
      wrong("device_config: {device_ids: [0]}"),
      ElementsAre(AllOf(HasSubstr("device_config.device_ids: a list"), HasSubstr("board"))));
  EXPECT_THAT(wrong("device_config: {mesh_shape: [2, 2, 2], enable_ddp: true}"),
              ElementsAre(HasSubstr("expected [rows, columns]")));
}

TEST_F(Elsewhere, WhatDoesNothingIsTold) {
  EXPECT_THAT(notes("wandb_project: mine, use_wandb: false"),
              ElementsAre("programs.a.training_config.wandb_project does nothing here: "
                          "`wandb sync` is told it (docs/tracking.md)"));
  EXPECT_THAT(notes("use_kahan_summation: false, wandb_project: ''"), IsEmpty());
  EXPECT_THAT(notes("base_model: TinyLlama, training_type: full, lora_r: 4"),
              ElementsAre(HasSubstr("is full, so what is said of LoRA is not read")));
  EXPECT_THAT(notes("base_model: TinyLlama, model_name: org/name"),
              ElementsAre(HasSubstr("base_model says what is trained")));
}

TEST_F(Elsewhere, Models) {
  EXPECT_EQ(training("model_name: TinyLlama, model_type: llama").at("base_model"),
            json::value(path("TinyLlama")));
  EXPECT_EQ(training("weights_path: TinyLlama, model_name: org/name").at("base_model"),
            json::value(path("TinyLlama")));
  const json::object sizes = training(
      "model_config: {model_type: llama, transformer_config: {embedding_dim: 64, num_blocks: 2, "
      "num_heads: 4, max_sequence_length: 32, rope_scaling: {scaling_factor: 0}}}");
  EXPECT_EQ(sizes.at("llama").at("hidden"), json::value(64));
  EXPECT_EQ(sizes.at("block_size"), json::value(32));
  EXPECT_FALSE(sizes.at("llama").as_object().contains("rope_scaling"));
  EXPECT_EQ(training("llama: {hidden_size: 64, num_hidden_layers: 2, num_heads: 4}"),
            training("llama: {hidden: 64, layers: 2, heads: 4}"));
  EXPECT_EQ(training("model: gpt2_nano, model_type: gpt2").at("model"), json::value("gpt2_nano"));
}

TEST_F(Elsewhere, AValueOfAWrongTypeIsRefusedWhereItStands) {
  EXPECT_THAT(refused("max_steps: many"),
              ElementsAre(AllOf(HasSubstr("3:34: "), HasSubstr("found the text 'many'"))));
  for (const char* odd : {"training_config:", "training_config: 5", "training_config: [1]"}) {
    const auto loaded = load_text(fmt::format("{}\nlora_config: {{r: 4}}\nmodel_type:\n", odd));
    EXPECT_FALSE(loaded) << odd;
  }
  EXPECT_THAT(refused("eval_config: [1]"), ElementsAre(HasSubstr("expected a map of keys")));
  EXPECT_THAT(refused("eval_config: {temprature: 0}"),
              ElementsAre(HasSubstr("did you mean 'temperature'?")));
}

// ---- the tables ----

TEST_F(Elsewhere, EveryNameLeadsToAKeyOfOurs) {
  std::set<std::string_view> seen;
  for (const elsewhere::Name& name : elsewhere::all_names()) {
    EXPECT_TRUE(seen.insert(name.theirs).second) << name.theirs << " is there twice";
    if (name.how == elsewhere::How::word) {
      EXPECT_FALSE(elsewhere::known_words(name.ours).empty()) << name.theirs;
    }
    if (name.ours.find('.') == std::string_view::npos) continue;
    // What has no such type is refused as such, and not as an unknown key.
    std::string text(name.ours);
    std::string closing;
    for (auto dot = text.find('.'); dot != std::string::npos; dot = text.find('.')) {
      text.replace(dot, 1, ": {");
      closing += "}";
    }
    for (const std::string& problem : wrong(text + ": [[]]" + closing)) {
      EXPECT_THAT(problem, testing::Not(HasSubstr("unknown key"))) << name.theirs;
    }
  }
}

// A key that is not read leads to one that is there, or to the reason why there is none.
TEST_F(Elsewhere, EveryHintLeadsToAKeyOfOurs) {
  std::set<std::string_view> seen;
  for (const Counterpart& hint : elsewhere::all_hints()) {
    EXPECT_TRUE(seen.insert(hint.theirs).second) << hint.theirs << " is there twice";
    EXPECT_EQ(elsewhere::find_name(hint.theirs), nullptr) << hint.theirs << " is read";
    EXPECT_FALSE(hint.ours.empty() && hint.says.empty()) << hint.theirs;
    const auto problems = refused(fmt::format("{}: x", hint.theirs));
    EXPECT_THAT(problems,
                testing::Contains(HasSubstr(
                    hint.ours.empty() ? "there is no such key here: " + std::string(hint.says)
                                      : "here it is " + std::string(hint.ours))))
        << hint.theirs;
    if (hint.ours.empty()) continue;
    std::string text(hint.ours);
    std::string closing;
    for (auto dot = text.find('.'); dot != std::string::npos; dot = text.find('.')) {
      text.replace(dot, 1, ": {");
      closing += "}";
    }
    for (const std::string& problem : wrong(text + ": [[]]" + closing)) {
      EXPECT_THAT(problem, testing::Not(HasSubstr("unknown key"))) << hint.theirs;
    }
  }
}

// The configurations that these trainers' own pages begin with.
TEST_F(Elsewhere, OtherTrainersKeysAllHaveAWord) {
  for (const char* name :
       {"axolotl.yaml", "llama_factory.yaml", "torchtune.yaml", "trl.yaml", "unsloth.yaml"}) {
    const auto loaded = file(name);
    ASSERT_FALSE(loaded) << name;
    for (const Problem& problem : loaded.error()) {
      EXPECT_THAT(problem.message, testing::Not(HasSubstr("valid in"))) << name;
      EXPECT_THAT(problem.message,
                  testing::Not(testing::MatchesRegex(".*unknown key '[a-z_0-9]*'")))
          << name;
    }
  }
}

TEST_F(Elsewhere, WordsOfOtherTrainersAreReadWhereTheyMeanTheSame) {
  const auto axolotl = training(
      "base_model: TinyLlama, data: train.jsonl, sequence_len: 64, sample_packing: true, "
      "lora_rank: 4, "
      "lora_target_linear: true, train_on_inputs: true, bf16: true, lr_scheduler: cosine, "
      "eval_strategy: 'no'");
  EXPECT_EQ(axolotl.at("block_size"), 64);
  EXPECT_EQ(axolotl.at("packing"), true);
  EXPECT_EQ(axolotl.at("lora").at("r"), 4);
  EXPECT_EQ(axolotl.at("train_on_prompts"), true);
  EXPECT_EQ(axolotl.at("precision"), "bf16");
  EXPECT_EQ(axolotl.at("final_learning_rate_share").to_number<double>(), 0);
  EXPECT_EQ(training("base_model: TinyLlama, data: train.jsonl, assistant_only_loss: false")
                .at("train_on_prompts"),
            true);
  EXPECT_THAT(refused("load_in_4bit: true"),
              testing::Contains(HasSubstr("weights are f32 or bf16")));
}

TEST_F(Elsewhere, EveryNameIsOnThePage) {
  const auto page = read_file(SOURCE_FOLDER "/docs/finetune.md", 1 << 20);
  ASSERT_TRUE(page);
  for (const elsewhere::Name& name : elsewhere::all_names()) {
    std::string_view last = name.theirs;
    if (const auto dot = last.find('.'); dot != std::string_view::npos) last.remove_prefix(dot + 1);
    EXPECT_NE(page->find(fmt::format("`{}`", last)), std::string::npos) << name.theirs;
  }
}

}  // namespace
}  // namespace trainward::config
