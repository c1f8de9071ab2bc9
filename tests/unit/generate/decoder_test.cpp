// Token by token, with keys and values kept, a model predicts what it predicts for the whole text.
#include "trainer/generate/decoder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "checkpoint/checkpoint.hpp"
#include "data/scratch_folder.hpp"
#include "model/tiny.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/model/architecture.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
using graph::Element;
using graph::Value;
using graph::test::Numbers;
using ::testing::HasSubstr;

struct Kind {
  const char* name;
  ModelSpec model;
};

constexpr ModelSpec sizes{.width = 24, .layers = 2, .heads = 3, .rank = 10, .vocabulary = 37};

std::vector<Kind> kinds() {
  ModelSpec tied = sizes;
  tied.tied = true;
  return {{"OfItsOwn", sizes}, {"Tied", tied}, {"Gpt2", test::as_gpt2(sizes, 80)}};
}

class DecoderTest : public ::testing::TestWithParam<Kind> {
 protected:
  DecoderTest() {
    spec_ = test::tiny_spec();
    spec_.model = GetParam().model;
    model_ = test::make(spec_);
    test::train(*model_, spec_, 1, 3);
    checkpoint::TrainingState at;
    at.step = 3;
    at.extra[model_facts] = architecture_of(spec_.model).facts(spec_.model);
    auto saved = checkpoint::save(
        root_.path(), checkpoint::Contents{at, model_->model_state(), model_->optimizer_state()});
    EXPECT_TRUE(saved) << saved.error().message();
    folder_ = *saved;
  }
  [[nodiscard]] std::unique_ptr<Decoder> decoder(std::int64_t context) const {
    auto reader = checkpoint::Reader::open(folder_);
    auto model = model_of(*reader, spec_.model.vocabulary);
    EXPECT_TRUE(model) << model.error().message();
    EXPECT_EQ(*model, spec_.model);
    auto made = Decoder::make(*reader, *model, context, 2);
    EXPECT_TRUE(made) << made.error().message();
    return *std::move(made);
  }

  // Logits after each of the tokens, in double precision, by the graph that training uses.
  [[nodiscard]] Numbers reference(const std::vector<std::int32_t>& tokens) const {
    graph::Builder b;
    const auto n = static_cast<std::int64_t>(tokens.size());
    const ParameterTable table = make_parameter_table(spec_.model, spec_.block_size);
    std::vector<Numbers> inputs{Numbers(tokens.begin(), tokens.end())};
    const Value ids = b.parameter("ids", {Element::i32, {1, n}});
    const test::State state = test::copy_of(model_->model_state());
    std::vector<Value> all;
    for (const ParameterInfo& info : table.infos) {
      all.push_back(b.parameter(info.name, {Element::f32, info.shape}));
      const auto& values = state.at(info.name);
      inputs.emplace_back(values.begin(), values.end());
    }
    const auto weights = [&](const Places& which) {
      Weights::Named named;
      for (const std::size_t i : which) named.emplace_back(table.infos[i].local_name(), all[i]);
      return Weights(b, std::move(named));
    };
    const Architecture& architecture = architecture_of(spec_.model);
    Value x = architecture.embed(b, spec_.model, weights(table.embedding), ids, {});
    for (std::int64_t layer = 0; layer < spec_.model.layers; ++layer) {
      x = block(b, spec_, weights(table.block(static_cast<std::size_t>(layer))), x, {});
    }
    const Value logits = architecture.logits(b, weights(table.head), x);
    return graph::test::interpret(*b.finish(std::vector{logits}), inputs)[0];
  }

  TrainingSpec spec_;
  std::unique_ptr<Trainable> model_;
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
  const Numbers expected = reference(tokens);
  const std::span<const std::int32_t> all(tokens);
  // As prompts of several lengths, and one by one from there.
  for (const std::size_t prompt : {1U, 7U, 32U, 70U}) {
    const auto decode = decoder(75);
    for (std::size_t at = 0; at < tokens.size(); at = at == 0 ? prompt : at + 1) {
      const std::size_t count = at == 0 ? prompt : 1;
      auto logits = decode->advance(all.subspan(at, count));
      ASSERT_TRUE(logits) << logits.error().message();
      ASSERT_EQ(logits->size(), 37U);
      for (std::size_t i = 0; i < logits->size(); ++i) {
        ASSERT_NEAR((*logits)[i], expected[(at + count - 1) * 64 + i], 2e-5)
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

// The likeliest token again and again: with what was seen kept, and from the whole text each time.
TEST_P(DecoderTest, GoesOnAsWithoutWhatItKept) {
  constexpr std::size_t length = 60;
  std::vector<std::int32_t> tokens = text_of(5);
  const auto keeping = decoder(length);
  std::span<const std::int32_t> news(tokens);
  const auto likeliest = [](std::span<const float> logits) {
    return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) -
                                     logits.begin());
  };
  while (tokens.size() < length) {
    const auto kept = keeping->advance(news);
    ASSERT_TRUE(kept) << kept.error().message();
    const auto anew = decoder(length);
    const auto whole = anew->advance(tokens);
    ASSERT_TRUE(whole) << whole.error().message();
    ASSERT_EQ(likeliest(*kept), likeliest(*whole)) << "after " << tokens.size() << " tokens";
    tokens.push_back(likeliest(*kept));
    news = std::span(tokens).last(1);
  }
}

TEST_P(DecoderTest, SaysWhatIsNoModelOrAnotherTokenizers) {
  auto reader = checkpoint::Reader::open(folder_);
  auto tensors = reader->model();
  EXPECT_THAT(model_of(*reader, 65).error().what, HasSubstr("it has 64 rows for tokens"));
  EXPECT_THAT(model_of({}, {}, 37).error().what, HasSubstr("no embedding"));
  EXPECT_THAT(model_of({}, {}, 37).error().hint, HasSubstr("AGILLM-3 and GPT-2"));
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
  const ScratchFolder root;
  const auto saved = checkpoint::save(
      root.path(), checkpoint::Contents{{}, model->model_state(), model->optimizer_state()});
  ASSERT_TRUE(saved) << saved.error().message();
  const auto reader = checkpoint::Reader::open(*saved);
  EXPECT_TRUE(Decoder::make(*reader, spec.model, 20, 1));
  const auto refused = Decoder::make(*reader, spec.model, 21, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  EXPECT_THAT(refused.error().message(), HasSubstr("the 20 positions"));
}

INSTANTIATE_TEST_SUITE_P(Models, DecoderTest, ::testing::ValuesIn(kinds()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace trainward::trainer
