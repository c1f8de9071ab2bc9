// Token by token, with keys and values kept, a model predicts what it predicts for the whole text.
#include "trainer/generate/decoder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "checkpoint/checkpoint.hpp"
#include "data/scratch_folder.hpp"
#include "generate/made_models.hpp"
#include "trainer/generate/model_source.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
using graph::test::Numbers;
using test::Kind;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr ModelSpec sizes{.width = 24, .layers = 2, .heads = 3, .rank = 10, .vocabulary = 37};

std::vector<Kind> older() {
  ModelSpec tied = sizes;
  tied.tied = true;
  return {{"OfItsOwn", sizes}, {"Tied", tied}, {"Gpt2", test::as_gpt2(sizes, 80)}};
}

std::vector<Kind> kinds() {
  std::vector<Kind> all = older();
  for (const Kind& llama : test::made_llamas()) all.push_back(llama);
  return all;
}

// From the arrays of a model in training.
class DecoderTest : public ::testing::TestWithParam<Kind> {
 protected:
  DecoderTest() {
    spec_ = test::tiny_spec();
    spec_.model = GetParam().model;
    model_ = test::make(spec_);
    if (architecture_of(spec_.model).name() == "llama") {
      test::fill_with_numbers(*model_, 5);
    } else {
      test::train(*model_, spec_, 1, 3);
    }
  }
  [[nodiscard]] std::unique_ptr<Decoder> decoder(std::int64_t context) const {
    auto weights = weights_of(*model_, spec_.model);
    EXPECT_TRUE(weights) << weights.error().message();
    auto made = Decoder::make(*weights, context, 2);
    EXPECT_TRUE(made) << made.error().message();
    return *std::move(made);
  }

  TrainingSpec spec_;
  std::unique_ptr<Trainable> model_;
};

// From a checkpoint.
class DecoderOfCheckpointTest : public DecoderTest {
 protected:
  DecoderOfCheckpointTest() {
    checkpoint::TrainingState at;
    at.step = 3;
    at.extra[model_facts] = architecture_of(spec_.model).facts(spec_.model);
    auto saved = checkpoint::save(
        root_.path(), checkpoint::Contents{at, model_->model_state(), model_->optimizer_state()});
    EXPECT_TRUE(saved) << saved.error().message();
    folder_ = *saved;
  }

  ScratchFolder root_;
  fs::path folder_;
};

std::vector<std::int32_t> text_of(std::size_t size) {
  graph::test::Draw draw(size);
  std::vector<std::int32_t> ids(size);
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(draw.size(0, 36));
  return ids;
}

TEST_P(DecoderTest, PredictsWhatTheWholeTextPredicts) {
  const std::vector<std::int32_t> tokens = text_of(75);
  const Numbers expected = test::predicted(spec_, *model_, tokens);
  const std::span<const std::int32_t> all(tokens);
  // As prompts of several lengths, and one by one from there.
  for (const std::size_t prompt : {1U, 7U, 32U, 70U}) {
    const auto decode = decoder(75);
    for (std::size_t at = 0; at < tokens.size(); at = at == 0 ? prompt : at + 1) {
      const std::size_t count = at == 0 ? prompt : 1;
      auto logits = decode->advance(all.subspan(at, count));
      ASSERT_TRUE(logits) << logits.error().message();
      ASSERT_EQ(logits->size(), 37U);
      // Rounding is that of the largest: large adapters make large logits, of which small ones are
      // differences.
      double largest = 1;
      for (std::size_t i = 0; i < logits->size(); ++i) {
        largest = std::max(largest, std::abs(expected[(at + count - 1) * 64 + i]));
      }
      for (std::size_t i = 0; i < logits->size(); ++i) {
        const double right = expected[(at + count - 1) * 64 + i];
        ASSERT_NEAR((*logits)[i], right, 2e-5 * largest)
            << "prompt of " << prompt << ", token " << at + count;
      }
    }
  }
}

TEST_P(DecoderTest, RefusesWhatDoesNotFit) {
  const auto decode = decoder(5);
  EXPECT_FALSE(decode->advance({}));
  EXPECT_THAT(decode->advance(text_of(6)).error().what, HasSubstr("do not fit a context of 5"));
  EXPECT_THAT(decode->advance(std::vector<std::int32_t>{1, 37}).error().what,
              HasSubstr("outside the vocabulary"));
  EXPECT_TRUE(decode->advance(text_of(5)));
  EXPECT_FALSE(decode->advance(text_of(1)));
}

// Bit for bit: what it saw and left again is as if it had never been.
TEST_P(DecoderTest, GoesBack) {
  const std::vector<std::int32_t> tokens = text_of(40);
  const std::span<const std::int32_t> all(tokens);
  const auto straight = decoder(60);
  ASSERT_TRUE(straight->advance(all.first(5)));
  const auto logits = straight->advance(all.subspan(5, 3));
  const std::vector<float> expected(logits->begin(), logits->end());

  const auto turning = decoder(60);
  ASSERT_TRUE(turning->advance(all.first(5)));
  ASSERT_TRUE(turning->advance(all.subspan(8)));
  turning->go_back_to(5);
  EXPECT_EQ(turning->seen(), 5);
  const auto again = turning->advance(all.subspan(5, 3));
  EXPECT_EQ(std::vector<float>(again->begin(), again->end()), expected);
}

// The likeliest token again and again: with what was seen kept, and from the whole text each time.
TEST_P(DecoderTest, GoesOnAsWithoutWhatItKept) {
  constexpr std::size_t length = 60;
  std::vector<std::int32_t> tokens = text_of(5);
  const auto keeping = decoder(length);
  const auto anew = decoder(length);
  std::span<const std::int32_t> news(tokens);
  const auto likeliest = [](std::span<const float> logits) {
    return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) -
                                     logits.begin());
  };
  while (tokens.size() < length) {
    const auto kept = keeping->advance(news);
    ASSERT_TRUE(kept) << kept.error().message();
    anew->go_back_to(0);
    const auto whole = anew->advance(tokens);
    ASSERT_TRUE(whole) << whole.error().message();
    ASSERT_EQ(likeliest(*kept), likeliest(*whole)) << "after " << tokens.size() << " tokens";
    tokens.push_back(likeliest(*kept));
    news = std::span(tokens).last(1);
  }
}

TEST_P(DecoderOfCheckpointTest, IsTheModelThatWasSaved) {
  const auto source = ModelSource::open(folder_);
  ASSERT_TRUE(source) << source.error().message();
  EXPECT_EQ(source->step(), 3);
  const auto loaded = source->load(spec_.model.vocabulary);
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(loaded->weights.model, spec_.model);
  const auto made = Decoder::make(loaded->weights, 40, 2);
  ASSERT_TRUE(made) << made.error().message();
  const auto tokens = text_of(40);
  const auto there = (*made)->advance(tokens);
  const auto here_decoder = decoder(40);
  const auto here = here_decoder->advance(tokens);
  ASSERT_TRUE(there && here);
  EXPECT_TRUE(std::ranges::equal(*there, *here));
}

class OlderDecoderTest : public DecoderOfCheckpointTest {};
TEST_P(OlderDecoderTest, SaysWhatIsNoModelOrAnotherTokenizers) {
  auto reader = checkpoint::Reader::open(folder_);
  auto tensors = reader->model();
  EXPECT_THAT(model_of(*reader, 65).error().what,
              AnyOf(HasSubstr("it has 64 rows for tokens"),
                    HasSubstr("the model has 37 tokens, and the tokenizer 65")));
  EXPECT_THAT(model_of({}, {}, 37).error().what, HasSubstr("no embedding"));
  EXPECT_THAT(model_of({}, {}, 37).error().hint, HasSubstr("AGILLM-3 and GPT-2 and Llama"));
  std::erase_if(tensors, [](const auto& info) {
    return info.name.ends_with("mha.U") || info.name.ends_with("attn.c_attn.weight");
  });
  EXPECT_THAT(model_of(tensors, {}, 37).error().what, HasSubstr("no attention"));
}

TEST(Decoder, APublishedGpt2HasHeadsOfItsUsualWidth) {
  const std::vector<checkpoint::TensorInfo> tensors{
      {"wte.weight", checkpoint::DType::f32, {288, 768}},
      {"wpe.weight", checkpoint::DType::f32, {1024, 768}},
      {"h.0.attn.c_attn.weight", checkpoint::DType::f32, {768, 2304}}};
  const auto model = model_of(tensors, {}, 257);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(model->heads, 12);
  EXPECT_EQ(model->positions, 1024);
  EXPECT_EQ(model_of(tensors, {{"heads", 6}}, 257)->heads, 6);
  EXPECT_FALSE(model_of(tensors, {{"heads", 7}}, 257));
}

TEST(Decoder, ATextLongerThanThePositionsIsRefused) {
  TrainingSpec spec = test::tiny_spec();
  spec.model = test::as_gpt2(spec.model, 20);
  const auto model = test::make(spec);
  const auto weights = weights_of(*model, spec.model);
  ASSERT_TRUE(weights) << weights.error().message();
  EXPECT_TRUE(Decoder::make(*weights, 20, 1));
  const auto refused = Decoder::make(*weights, 21, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_THAT(refused.error().message(), HasSubstr("the 20 positions"));
}

// Attention of long texts is another program than that of short ones.
TEST(Decoder, GoesOnWhenTheTextIsLong) {
  TrainingSpec spec = test::tiny_spec();
  spec.model = test::made_llama(1);
  spec.model.width = llama_part(spec.model).inner = 8;
  spec.model.layers = 1;
  spec.model.heads = 2;
  spec.model.own_head_width = spec.model.rank = 4;
  spec.model.positions = 0;
  const auto model = test::make(spec);
  test::fill_with_numbers(*model, 5);
  const auto tokens = text_of(262);
  const Numbers expected = test::predicted(spec, *model, tokens);
  const auto decoder = Decoder::make(*weights_of(*model, spec.model), 600, 2);
  ASSERT_TRUE(decoder) << decoder.error().message();
  const std::span<const std::int32_t> all(tokens);
  ASSERT_TRUE((*decoder)->advance(all.first(250)));
  for (std::size_t at = 250; at < tokens.size(); ++at) {
    const auto logits = (*decoder)->advance(all.subspan(at, 1));
    ASSERT_TRUE(logits);
    for (std::size_t i = 0; i < logits->size(); ++i) {
      ASSERT_NEAR((*logits)[i], expected[at * 64 + i], 1e-4) << at;
    }
  }
}

// A text whose computation went wrong leaves nothing behind for the next.
TEST(Decoder, ForgetsWhatIsNoNumber) {
  TrainingSpec spec = test::tiny_spec();
  spec.model = test::made_llama(2);
  const auto model = test::make(spec);
  test::fill_with_numbers(*model, 5);
  const auto decoder = Decoder::make(*weights_of(*model, spec.model), 40, 1);
  ASSERT_TRUE(decoder);
  const auto tokens = text_of(20);
  const auto first = (*decoder)->advance(tokens);
  const std::vector<float> expected(first->begin(), first->end());
  const auto state = model->model_state();
  auto* number = const_cast<std::byte*>(state[0].bytes.data());
  const float bad = std::numeric_limits<float>::quiet_NaN();
  // The whole table of tokens.
  ASSERT_EQ(state[0].info.name, "model.embed_tokens.weight");
  const std::vector<std::byte> saved(state[0].bytes.begin(), state[0].bytes.end());
  for (std::size_t i = 0; i < saved.size(); i += sizeof bad) {
    std::memcpy(number + i, &bad, sizeof bad);
  }
  (*decoder)->go_back_to(0);
  EXPECT_TRUE(std::isnan((*(*decoder)->advance(text_of(39)))[0]));
  std::memcpy(number, saved.data(), saved.size());
  (*decoder)->go_back_to(0);
  const auto again = (*decoder)->advance(tokens);
  EXPECT_EQ(std::vector<float>(again->begin(), again->end()), expected);
}

std::string name_of_kind(const ::testing::TestParamInfo<Kind>& test) { return test.param.name; }

std::vector<Kind> whole() {
  std::vector<Kind> all = kinds();
  std::erase_if(all, [](const Kind& kind) { return kind.model.lora.used(); });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, DecoderTest, ::testing::ValuesIn(kinds()), name_of_kind);
INSTANTIATE_TEST_SUITE_P(Models, DecoderOfCheckpointTest, ::testing::ValuesIn(whole()),
                         name_of_kind);
INSTANTIATE_TEST_SUITE_P(Models, OlderDecoderTest, ::testing::ValuesIn(older()), name_of_kind);

}  // namespace
}  // namespace trainward::trainer
