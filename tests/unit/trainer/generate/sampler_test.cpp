// What a model in training says to prompts, at different times.
#include "trainer/generate/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generate/made_folders.hpp"

namespace trainward::trainer {
namespace {

using ::testing::HasSubstr;

class SamplerTest : public ::testing::Test {
 protected:
  SamplerTest() {
    spec_ = test::tiny_spec();
    spec_.model = test::folder_model();
    spec_.learning_rate = 0.01;
    model_ = test::make(spec_);
    test::fill_with_numbers(*model_, 5);
    setup_.prompts = {"Hi", "What is this?", "yo yo"};
    setup_.rules.beginning = tokenizer_->before_text();
    setup_.rules.ends = {2};
    setup_.tokens = 10;
    setup_.sampling = {.temperature = 1, .top_p = 1};
  }
  std::unique_ptr<Sampler> sampler() {
    auto made = Sampler::make(*weights_of(*model_, spec_.model), *tokenizer_, setup_);
    EXPECT_TRUE(made) << made.error().message();
    return *std::move(made);
  }
  static std::vector<std::string> answers(Sampler& sampler, std::int64_t step) {
    std::vector<std::string> all;
    const auto samples = sampler.sample(step);
    EXPECT_TRUE(samples) << samples.error().message();
    for (const Sample& sample : *samples) all.push_back(sample.answer);
    return all;
  }

  TrainingSpec spec_;
  std::unique_ptr<Trainable> model_;
  std::unique_ptr<Tokenizer> tokenizer_ = made(llama2_json());
  SamplerSetup setup_;
};

TEST_F(SamplerTest, AnswersAreAFunctionOfSeedStepAndPrompt) {
  const auto one = sampler();
  const auto first = answers(*one, 3);
  ASSERT_EQ(first.size(), 3U);
  EXPECT_NE(answers(*one, 4), first);
  EXPECT_EQ(answers(*one, 3), first);
  EXPECT_EQ(answers(*sampler(), 3), first);
  std::swap(setup_.prompts[0], setup_.prompts[2]);
  const auto turned = answers(*sampler(), 3);
  EXPECT_EQ(turned[0], first[2]);
  EXPECT_EQ(turned[2], first[0]);
  setup_.seed = 1;
  EXPECT_NE(answers(*sampler(), 3), turned);
}

TEST_F(SamplerTest, SeesTheWeightsAsTheyAre) {
  const auto one = sampler();
  const auto before = answers(*one, 3);
  const std::size_t bytes = one->bytes();
  test::train(*model_, spec_, 1, 5);
  const auto after = answers(*one, 3);
  EXPECT_NE(after, before);
  EXPECT_EQ(answers(*sampler(), 3), after);
  EXPECT_EQ(one->bytes(), bytes);
}

TEST_F(SamplerTest, TellsHowEachEnded) {
  const auto samples = sampler()->sample(1);
  for (const Sample& sample : *samples) {
    const bool whole = sample.end == Generated::End::length;
    EXPECT_EQ(sample.tokens == 10, whole);
  }
  EXPECT_EQ((*samples)[1].prompt, "What is this?");
  int left = 4;
  const auto cut = sampler()->sample(1, [&] { return --left == 0; });
  ASSERT_EQ(cut->size(), 1U);
  EXPECT_EQ(cut->front().end, Generated::End::asked);
  EXPECT_EQ(cut->front().tokens, 4);
}

TEST_F(SamplerTest, AsksInTheFormOfTheRun) {
  setup_.sampling.temperature = 0;
  const auto plain = answers(*sampler(), 0);
  setup_.format = built_in_format("zephyr", {"<s>", "</s>", "<unk>", ""}).value();
  const auto in_form = answers(*sampler(), 0);
  EXPECT_NE(in_form, plain);
  // The same text written out, with its end of a turn recognised.
  const auto pieces = setup_.format->prompt(std::vector<ChatTurn>{{"user", "Hi"}});
  std::string text;
  for (const PromptPiece& piece : *pieces) text += piece.text;
  setup_.format = nullptr;
  setup_.prompts = {text};
  EXPECT_EQ(answers(*sampler(), 0)[0], in_form[0]);
}

TEST_F(SamplerTest, APromptThatIsTooLongIsNamed) {
  setup_.prompts.emplace_back(400, 'x');
  const auto made = Sampler::make(*weights_of(*model_, spec_.model), *tokenizer_, setup_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::usage);
  EXPECT_THAT(made.error().message(), HasSubstr("xxxx"));
}

TEST_F(SamplerTest, AModelElsewhereHasNoWeightsHere) {
  class Elsewhere final : public Trainable {
   public:
    Result<StepResult> step(const TokenBatch&) override { return StepResult{}; }
    Result<double> evaluate(const TokenBatch&) override { return 0.0; }
    [[nodiscard]] std::vector<checkpoint::TensorView> model_state() const override { return {}; }
    [[nodiscard]] std::vector<checkpoint::TensorView> optimizer_state() const override {
      return {};
    }
    Status restore(const checkpoint::FillTensors&, std::int64_t) override { return {}; }
    Result<std::vector<std::uint64_t>> checksums() override { return std::vector<std::uint64_t>{}; }
    [[nodiscard]] std::int64_t parameter_count() const override { return 0; }
    [[nodiscard]] std::int64_t total_parameters() const override { return 0; }
    [[nodiscard]] std::size_t arena_bytes() const override { return 0; }
  };
  const Elsewhere model;
  const auto weights = weights_of(model, spec_.model);
  ASSERT_FALSE(weights);
  EXPECT_EQ(weights.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace trainward::trainer
