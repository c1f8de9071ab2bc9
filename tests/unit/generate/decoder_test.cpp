// Token by token, with keys and values kept, a model predicts what it predicts for the whole text.
#include "trainer/model/decoder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "checkpoint/checkpoint.hpp"
#include "data/scratch_folder.hpp"
#include "model/tiny.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/model/block.hpp"
#include "trainer/model/parameters.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
using graph::Element;
using graph::Value;
using graph::test::Numbers;
using ::testing::HasSubstr;

class DecoderTest : public ::testing::TestWithParam<bool> {
 protected:
  DecoderTest() {
    spec_ = test::tiny_spec();
    spec_.model = {.width = 24, .layers = 2, .heads = 3, .rank = 10, .vocabulary = 37};
    spec_.model.tied = GetParam();
    model_ = test::make(spec_);
    test::train(*model_, spec_, 1, 3);
    checkpoint::TrainingState at;
    at.step = 3;
    auto saved = checkpoint::save(
        root_.path(), checkpoint::Contents{at, model_->model_state(), model_->optimizer_state()});
    EXPECT_TRUE(saved) << saved.error().message();
    folder_ = *saved;
  }
  [[nodiscard]] std::unique_ptr<Decoder> decoder(std::int64_t context) const {
    auto reader = checkpoint::Reader::open(folder_);
    auto model = model_of(reader->model(), spec_.model.vocabulary);
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
    const ParameterTable table = make_parameter_table(spec_.model);
    std::vector<Numbers> inputs{Numbers(tokens.begin(), tokens.end())};
    const Value ids = b.parameter("ids", {Element::i32, {1, n}});
    std::vector<Value> weights;
    const test::State state = test::copy_of(model_->model_state());
    for (const ParameterInfo& info : table.infos) {
      weights.push_back(b.parameter(info.name, {Element::f32, info.shape}));
      const auto& values = state.at(info.name);
      inputs.emplace_back(values.begin(), values.end());
    }
    const auto some = [&](const std::vector<std::size_t>& which) {
      std::vector<Value> found;
      for (const std::size_t i : which) found.push_back(weights[i]);
      return found;
    };
    Value x = b.gather_rows(weights[table.embedding()], ids);
    for (std::int64_t layer = 0; layer < spec_.model.layers; ++layer) {
      const auto p = some(table.block(static_cast<std::size_t>(layer)));
      const Value attended =
          attention(b, attention_input(b, x, p), attention_weights(p), spec_.model.heads);
      x = after_attention(b, x, attended, p);
    }
    return graph::test::interpret(*b.finish(std::vector{head_logits(b, x, some(table.head()))}),
                                  inputs)[0];
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

TEST_P(DecoderTest, SaysWhatIsNoModelOrAnotherTokenizers) {
  auto reader = checkpoint::Reader::open(folder_);
  auto tensors = reader->model();
  EXPECT_THAT(model_of(tensors, 65).error().what, HasSubstr("it has 64 rows for tokens"));
  EXPECT_THAT(model_of({}, 37).error().what, HasSubstr("no embedding"));
  std::erase_if(tensors, [](const auto& info) { return info.name.ends_with("mha.U"); });
  EXPECT_THAT(model_of(tensors, 37).error().what, HasSubstr("no attention"));
}

INSTANTIATE_TEST_SUITE_P(Heads, DecoderTest, ::testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "Tied" : "OfItsOwn");
});

}  // namespace
}  // namespace trainward::trainer
