// The command, on a model that has learned one sentence by heart.
#include "trainer/worker/commands/generate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "checkpoint/checkpoint.hpp"
#include "common/base/json/json.hpp"
#include "common/protocol/protocol.hpp"
#include "data/scratch_folder.hpp"
#include "generate/made_folders.hpp"
#include "model/tiny.hpp"
#include "trainer/chat/prompt_format.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view sentence = "all work and no play. ";

class Stop final : public Requests {
 public:
  [[nodiscard]] bool stop_requested() const override { return asked; }
  bool take_save_request() override { return false; }
  bool asked = false;
};

class GenerateTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = std::make_unique<ScratchFolder>();
    TrainingSpec spec = test::tiny_spec();
    spec.model = {.width = 32, .layers = 2, .heads = 2, .rank = 16, .vocabulary = 257};
    spec.batch_size = 1;
    spec.block_size = 66;
    spec.learning_rate = spec.head_learning_rate = 1e-2;
    std::vector<std::int32_t> ids;
    for (std::size_t i = 0; i < 66; ++i) {
      ids.push_back(static_cast<unsigned char>(sentence[i % sentence.size()]));
    }
    const auto model = test::make(spec);
    for (int i = 0; i < 400; ++i) ASSERT_TRUE(model->step(ids));
    for (const std::int64_t step : {140, 150}) {
      checkpoint::TrainingState at;
      at.step = step;
      ASSERT_TRUE(checkpoint::save(
          root(), checkpoint::Contents{at, model->model_state(), model->optimizer_state()}));
    }
  }
  static void TearDownTestSuite() { folder().reset(); }
  static std::unique_ptr<ScratchFolder>& folder() {
    static std::unique_ptr<ScratchFolder> of_the_suite;
    return of_the_suite;
  }
  static fs::path root() { return folder()->path(); }

  int run(GenerateOptions options) {
    out_.clear();
    err_.clear();
    if (options.speaker.model.empty()) options.speaker.model = root().string();
    return run_generate(options, {stop_, [this](std::string_view text) { out_ += text; },
                                  [this](std::string_view text) { err_ += text; }, [] { return 0; },
                                  [] { return ProgressBar::Time(); }});
  }

  Stop stop_;
  std::string out_, err_;
};

TEST_F(GenerateTest, GoesOnAsItHasLearned) {
  GenerateOptions options;
  options.prompt = "all work";
  options.tokens = 40;
  options.sampling.temperature = 0;
  EXPECT_EQ(run(options), exit_code::done) << err_;
  EXPECT_EQ(out_, "all work and no play. all work and no play. all \n");
}

TEST_F(GenerateTest, TheSameSeedGivesTheSameText) {
  GenerateOptions options;
  options.prompt = "a";
  options.sampling = {5, 0, 1};
  run(options);
  const std::string first = out_;
  run(options);
  EXPECT_EQ(out_, first);
  options.seed = 1;
  run(options);
  EXPECT_NE(out_, first);
}

TEST_F(GenerateTest, TellsAsJson) {
  GenerateOptions options;
  options.speaker.model = (root() / "step-00000140").string();
  options.prompt = "all work and no ";
  options.tokens = 4;
  options.sampling.temperature = 0;
  options.json = true;
  EXPECT_EQ(run(options), exit_code::done) << err_;
  const auto told = parse_json(out_, "out");
  ASSERT_TRUE(told) << out_;
  EXPECT_EQ(told->at("step").as_int64(), 140);
  EXPECT_EQ(told->at("text").as_string(), "play");
  EXPECT_EQ(told->at("tokens").as_int64(), 4);
  EXPECT_EQ(told->at("end").as_string(), "length");
}

TEST_F(GenerateTest, PassesOverADamagedCheckpoint) {
  const fs::path newer = root() / "step-00000160";
  fs::copy(root() / "step-00000150", newer);
  std::ofstream(newer / "model.safetensors", std::ios::in | std::ios::out).seekp(5000) << "X";
  GenerateOptions options;
  options.tokens = 1;
  options.json = true;
  EXPECT_EQ(run(options), exit_code::done) << err_;
  EXPECT_THAT(err_, StartsWith("trainward-worker: not used: "));
  EXPECT_THAT(out_, HasSubstr("step-00000150"));
  EXPECT_TRUE(fs::exists(newer));
  fs::remove_all(newer);
}

TEST_F(GenerateTest, SaysWhatIsWrong) {
  GenerateOptions options;
  options.speaker.model = "/nowhere";
  EXPECT_EQ(run(options), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("/nowhere"));
  options.speaker.model = "TinyLlama/TinyLlama-1.1B-Chat-v1.0";
  EXPECT_EQ(run(options), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("hf download"));
  const ScratchFolder empty;
  options.speaker.model = empty.path();
  EXPECT_EQ(run(options), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("holds no checkpoint, and no model"));
  options.speaker.model.clear();
  options.speaker.tokenizer = "/nowhere/tokenizer.json";
  EXPECT_EQ(run(options), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("/nowhere/tokenizer.json"));
  EXPECT_THAT(err_, HasSubstr("--tokenizer"));
  options.speaker.tokenizer.clear();
  options.speaker.base = root().string();
  EXPECT_EQ(run(options), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("needs no base"));
}

TEST_F(GenerateTest, EndsWhenAsked) {
  stop_.asked = true;
  EXPECT_EQ(run({}), exit_code::try_again);
}

// A model in folders of others' kind, as people have them.
class GenerateFolderTest : public GenerateTest {
 protected:
  GenerateFolderTest() : base_(test::write_base(of_test_.path())) {}
  static GenerateOptions greedy(const fs::path& model) {
    GenerateOptions options;
    options.speaker.model = model.string();
    options.prompt = "Hi yo";
    options.tokens = 12;
    options.sampling.temperature = 0;
    return options;
  }
  ScratchFolder of_test_;
  fs::path base_;
};

TEST_F(GenerateFolderTest, FindsTheTokenizerOfTheFolder) {
  GenerateOptions options = greedy(base_);
  options.json = true;
  EXPECT_EQ(run(options), exit_code::done) << err_;
  const auto told = parse_json(out_, "out");
  ASSERT_TRUE(told) << out_;
  EXPECT_EQ(told->at("model").as_string(), base_.string());
  // <s>, and the two words.
  EXPECT_EQ(told->at("prompt_tokens").as_int64(), 3);
  EXPECT_FALSE(told->as_object().contains("step"));
}

TEST_F(GenerateFolderTest, AsksInTheModelsOwnFormOrAnother) {
  GenerateOptions options = greedy(base_);
  EXPECT_EQ(run(options), exit_code::done) << err_;
  const std::string plain = out_;
  EXPECT_THAT(plain, StartsWith("Hi yo"));
  options.chat = true;
  EXPECT_EQ(run(options), exit_code::done) << err_;
  const std::string own = out_;
  EXPECT_FALSE(own.starts_with("Hi yo"));
  options.system = "Be brief.";
  EXPECT_EQ(run(options), exit_code::done) << err_;
  EXPECT_NE(out_, own);
  options.system.clear();
  options.speaker.format = "alpaca";
  EXPECT_EQ(run(options), exit_code::done) << err_;
  EXPECT_NE(out_, own);
  // Written out it is the same text, which begins with the tokenizer's begin token; the template
  // begins with it only where it says so.
  options.speaker.format.clear();
  options.chat = false;
  options.prompt = "<|user|>\nHi yo</s>\n<|assistant|>\n";
  EXPECT_EQ(run(options), exit_code::done) << err_;
  const std::string begun = out_;
  EXPECT_NE(begun, options.prompt + own);
  test::write_file(
      base_ / "chat_template.jinja",
      "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}</s>\n{% endfor %}"
      "{% if add_generation_prompt %}<|assistant|>\n{% endif %}");
  options.chat = true;
  options.prompt = "Hi yo";
  EXPECT_EQ(run(options), exit_code::done) << err_;
  EXPECT_EQ("<|user|>\nHi yo</s>\n<|assistant|>\n" + out_, begun);
  options.chat = true;
  options.speaker.format = "chatlm";
  EXPECT_EQ(run(options), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("--format"));
  EXPECT_THAT(err_, HasSubstr("chatml"));
}

TEST_F(GenerateFolderTest, AdaptersSpeakOverTheirBase) {
  const test::AdapterRun made = test::adapter_run(of_test_.path(), base_);
  EXPECT_EQ(run(greedy(base_)), exit_code::done) << err_;
  const std::string without = out_;
  // The folder of checkpoints: the base is where the run began.
  EXPECT_EQ(run(greedy(made.checkpoint.parent_path())), exit_code::done) << err_;
  const std::string with = out_;
  EXPECT_NE(with, without);
  GenerateOptions over = greedy(base_);
  over.speaker.adapter = made.checkpoint.parent_path().string();
  EXPECT_EQ(run(over), exit_code::done) << err_;
  EXPECT_EQ(out_, with);
  const fs::path peft = of_test_.path("peft");
  ASSERT_TRUE(checkpoint::huggingface::export_model(made.checkpoint, peft));
  over.speaker.adapter = peft.string();
  EXPECT_EQ(run(over), exit_code::done) << err_;
  EXPECT_EQ(out_, with);
  GenerateOptions named = greedy(peft);
  named.speaker.base = base_.string();
  EXPECT_EQ(run(named), exit_code::done) << err_;
  EXPECT_EQ(out_, with);
  over.speaker.adapter = base_.string();
  EXPECT_EQ(run(over), exit_code::configuration);
}

// What was taught as a form with a name is asked so, over a base with a template of its own.
TEST_F(GenerateFolderTest, AdaptersAreAskedAsTheyWereTaught) {
  const auto form = built_in_format("alpaca", {"<s>", "</s>", "", ""});
  ASSERT_TRUE(form);
  const test::AdapterRun made =
      test::adapter_run(of_test_.path(), base_, (*form)->as_template(true));
  const fs::path peft = of_test_.path("peft");
  ASSERT_TRUE(checkpoint::huggingface::export_model(made.checkpoint, peft));
  GenerateOptions options = greedy(peft);
  options.chat = true;
  EXPECT_EQ(run(options), exit_code::done) << err_;
  const std::string by_itself = out_;
  options.speaker.format = "alpaca";
  EXPECT_EQ(run(options), exit_code::done) << err_;
  EXPECT_EQ(out_, by_itself);
  fs::remove(peft / "chat_template.jinja");
  options.speaker.format.clear();
  EXPECT_EQ(run(options), exit_code::done) << err_;
  EXPECT_NE(out_, by_itself);
  test::write_file(peft / "tokenizer_config.json", "[]");
  EXPECT_EQ(run(options), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("tokenizer_config.json"));
}

// The variables of the run are the template's again; a form with a name has no use for them.
TEST_F(GenerateFolderTest, ACheckpointsTemplateIsGivenWhatItWasTaughtWith) {
  const auto with_mark = [](std::string_view mark) {
    return fmt::format(
        "{{% for m in messages %}}{{{{ m.role }}}}{0}{{{{ m.content }}}}</s>{{% endfor %}}"
        "{{% if add_generation_prompt %}}assistant{0}{{% endif %}}",
        mark);
  };
  const auto answer = [&](const fs::path& model, const std::string& format = {}) {
    GenerateOptions options = greedy(model);
    options.chat = true;
    options.speaker.format = format;
    EXPECT_EQ(run(options), exit_code::done) << err_;
    return out_;
  };
  const test::AdapterRun made =
      test::adapter_run(of_test_.path(), base_, {}, {{"mark", " says at last: "}});
  test::write_file(base_ / "chat_template.jinja", with_mark(" says at last: "));
  const std::string meant = answer(made.checkpoint);
  test::write_file(base_ / "chat_template.jinja", with_mark(""));
  EXPECT_NE(answer(made.checkpoint), meant);
  test::write_file(base_ / "chat_template.jinja", with_mark("{{ mark }}"));
  EXPECT_EQ(answer(made.checkpoint), meant);
  EXPECT_NE(answer(made.checkpoint, "alpaca"), meant);
  fs::remove(base_ / "chat_template.jinja");
  EXPECT_NE(answer(made.checkpoint), meant);
}

TEST_F(GenerateFolderTest, ATextLongerThanTheModelIsRefused) {
  GenerateOptions options = greedy(base_);
  options.prompt = std::string(400, 'x');
  EXPECT_EQ(run(options), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("leaves no room for an answer, with 300 in all"));
}

}  // namespace
}  // namespace trainward::trainer
