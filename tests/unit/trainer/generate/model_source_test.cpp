// The same model wherever it lies: in the arrays of a run, a checkpoint, a folder for others.
#include "trainer/generate/model_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "generate/made_folders.hpp"
#include "temporary_folder.hpp"
#include "trainer/generate/decoder.hpp"

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;
namespace hf = checkpoint::huggingface;
using ::testing::HasSubstr;

const std::vector<std::int32_t> text{1, 300, 17, 264, 264, 9, 300, 2, 41, 77, 118, 280};

std::vector<float> logits_of(const ModelWeights& weights) {
  const auto decoder = Decoder::make(weights, 60, 2);
  EXPECT_TRUE(decoder) << decoder.error().message();
  std::vector<float> all;
  for (const std::int32_t token : text) {
    const auto logits = (*decoder)->advance(std::span(&token, 1));
    EXPECT_TRUE(logits) << logits.error().message();
    all.insert(all.end(), logits->begin(), logits->end());
  }
  return all;
}

std::vector<float> logits_of(const fs::path& path, const std::optional<fs::path>& base = {}) {
  const auto source = ModelSource::open(path, base);
  EXPECT_TRUE(source) << source.error().message();
  const auto loaded = source->load(360);
  EXPECT_TRUE(loaded) << loaded.error().message();
  return logits_of(loaded->weights);
}

double most_apart(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double scale = std::max(1.0, std::abs(static_cast<double>(a[i])));
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]) / scale);
  }
  return most;
}

class ModelSourceTest : public ::testing::Test {
 protected:
  ModelSourceTest() : base_(test::write_base(root_.path())) {}
  static Error refused(const fs::path& path, const std::optional<fs::path>& base = {}) {
    const auto source = ModelSource::open(path, base);
    EXPECT_FALSE(source);
    return source ? Error{} : source.error();
  }

  TemporaryFolder root_;
  fs::path base_;
};

TEST_F(ModelSourceTest, AFolderIsLookedAtWhereItIsMapped) {
  const auto source = ModelSource::open(base_);
  ASSERT_TRUE(source) << source.error().message();
  EXPECT_FALSE(source->is_checkpoint());
  EXPECT_FALSE(source->has_adapters());
  EXPECT_EQ(source->end_tokens(), (std::vector<std::int32_t>{2, 259}));
  const auto loaded = source->load(360);
  ASSERT_TRUE(loaded) << loaded.error().message();
  // Padded rows, odd addresses and vectors in f32 are copied; no matrix of a block is.
  EXPECT_EQ(loaded->own.size(), 0U);
  std::size_t narrow = 0;
  for (const auto& value : loaded->weights.values) {
    narrow += value.element == graph::Element::bf16 ? 1 : 0;
  }
  EXPECT_EQ(narrow, 2U + 7 * 2);

  const auto base = BaseModel::open(base_.string());
  TrainingSpec spec = test::tiny_spec();
  spec.model = (*base)->model();
  const auto wide = make_cpu_model(spec, base->get());
  ASSERT_TRUE(wide) << wide.error().message();
  EXPECT_LT(most_apart(logits_of(loaded->weights), logits_of(*weights_of(**wide, spec.model))),
            1e-5);
}

TEST_F(ModelSourceTest, AdaptersAreTheSameUnmergedMergedAndAsPeftKeepsThem) {
  const test::AdapterRun run = test::adapter_run(root_.path(), base_);
  const std::vector<float> here = logits_of(*weights_of(*run.model, run.spec.model));
  EXPECT_GT(most_apart(here, logits_of(base_)), 0.1);
  EXPECT_EQ(logits_of(run.checkpoint), here);

  const fs::path peft = root_.path() / "peft";
  auto exported = hf::export_model(run.checkpoint, peft);
  ASSERT_TRUE(exported) << exported.error().message();
  EXPECT_TRUE(exported->adapter);
  EXPECT_EQ(logits_of(peft), here);         // by the path it names
  EXPECT_EQ(logits_of(peft, base_), here);  // and the one it is given

  hf::ExportOptions wide;
  wide.type = checkpoint::DType::f32;
  const fs::path merged = root_.path() / "merged";
  auto whole = hf::merge(run.checkpoint, merged, wide);
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_LT(most_apart(logits_of(merged), here), 1e-5);
}

TEST_F(ModelSourceTest, AdaptersGoWithTheirOwnBaseAlone) {
  const test::AdapterRun run = test::adapter_run(root_.path(), base_);
  const fs::path other = test::write_base(root_.path(), 6);
  EXPECT_THAT(refused(run.checkpoint, other).message(), HasSubstr("other weights"));
  // A copy elsewhere is the same model.
  const fs::path copy = root_.path() / "copy";
  fs::copy(base_, copy);
  fs::remove_all(base_);
  EXPECT_EQ(refused(run.checkpoint).kind, ErrorKind::usage);
  EXPECT_TRUE(ModelSource::open(run.checkpoint, copy));
}

TEST_F(ModelSourceTest, SaysWhatIsMissing) {
  EXPECT_THAT(refused("/nowhere").message(), HasSubstr("/nowhere"));
  EXPECT_THAT(refused(base_, base_).message(), HasSubstr("needs no base"));
  const test::AdapterRun run = test::adapter_run(root_.path(), base_);
  const fs::path peft = root_.path() / "peft";
  ASSERT_TRUE(hf::export_model(run.checkpoint, peft));
  fs::rename(base_, root_.path() / "moved");
  const Error lost = refused(peft);
  EXPECT_EQ(lost.kind, ErrorKind::usage);
  EXPECT_THAT(lost.what, HasSubstr("which is not a folder here"));
  EXPECT_THAT(lost.hint, HasSubstr("--base"));
  const auto source = ModelSource::open(root_.path() / "moved");
  const auto loaded = source->load(366);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message(),
              HasSubstr("the model has 365 tokens, and the tokenizer 366"));
}

TEST_F(ModelSourceTest, AnAdapterOfAnotherShapeDoesNotFit) {
  const test::AdapterRun run = test::adapter_run(root_.path(), base_);
  const fs::path peft = root_.path() / "peft";
  ASSERT_TRUE(hf::export_model(run.checkpoint, peft));
  TrainingSpec spec = test::tiny_spec();
  spec.model = test::folder_model();
  spec.model.layers = 3;
  const auto model = test::make(spec);
  const auto from =
      test::save(root_.path() / "deeper", *model, architecture_of(spec.model).facts(spec.model), 1);
  const fs::path deeper = root_.path() / "deeper-base";
  ASSERT_TRUE(hf::export_model(from, deeper));
  const auto source = ModelSource::open(peft, deeper);
  ASSERT_TRUE(source) << source.error().message();
  const auto loaded = source->load(360);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message(), HasSubstr("model.layers.2."));
}

TEST(EndTokens, ANumberOrAList) {
  using Ids = std::vector<std::int32_t>;
  EXPECT_EQ(end_tokens_in({{"eos_token_id", 2}}), Ids{2});
  EXPECT_EQ(end_tokens_in({{"eos_token_id", json::array{128001, 128008, "x", -1, 128009}}}),
            (Ids{128001, 128008, 128009}));
  EXPECT_EQ(end_tokens_in({{"eos_token_id", nullptr}}), Ids{});
  EXPECT_EQ(end_tokens_in({{"bos_token_id", 1}}), Ids{});
}

}  // namespace
}  // namespace trainward::trainer
