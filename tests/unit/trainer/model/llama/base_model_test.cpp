// A folder as what training begins with: its values to the bit, where they lie; and folders that do
// not fit their config.json.
#include "trainer/model/huggingface/base_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "checkpoint/format/floats.hpp"
#include "model/llama/rows.hpp"
#include "temporary_folder.hpp"
#include "tests/unit/checkpoint/huggingface/support.hpp"
#include "trainer/model/training/fixed_values.hpp"

namespace trainward::trainer {
namespace {

namespace hf = checkpoint::huggingface::testing;
using checkpoint::DType;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::unique_ptr<BaseModel> opened(const std::filesystem::path& folder) {
  auto base = BaseModel::open(folder.string());
  EXPECT_TRUE(base) << base.error().message();
  return base ? *std::move(base) : nullptr;
}

TrainingSpec spec_of(const BaseModel& base) {
  TrainingSpec spec;
  spec.model = base.model();
  spec.batch_size = 2;
  spec.block_size = 12;
  spec.threads = 1;
  return spec;
}

// A folder with these tensors in place of its own.
class BaseModelFolder : public ::testing::Test {
 protected:
  std::filesystem::path write(const hf::Shape& shape, DType type,
                              const std::vector<hf::OwnedTensor>& tensors) {
    const auto folder = scratch_.path() / fmt::format("model{}", ++count_);
    hf::write_folder(folder, {shape, type});
    hf::write_safetensors(folder / "model.safetensors", tensors);
    return folder;
  }
  std::filesystem::path write(const hf::FolderOptions& options) {
    const auto folder = scratch_.path() / fmt::format("model{}", ++count_);
    hf::write_folder(folder, options);
    return folder;
  }
  static std::string refusal(const std::filesystem::path& folder) {
    auto base = BaseModel::open(folder.string());
    EXPECT_FALSE(base);
    if (base) return {};
    EXPECT_EQ(base.error().kind, ErrorKind::usage);
    EXPECT_THAT(base.error().where, HasSubstr(folder.filename().string()));
    return base.error().message();
  }
  TemporaryFolder scratch_;
  int count_ = 0;
};

TEST_F(BaseModelFolder, BeforeTheFirstStepTheModelIsTheFolder) {
  for (const DType type : {DType::bf16, DType::f16, DType::f32}) {
    for (const bool tied : {false, true}) {
      for (const std::size_t shards : {1U, 3U}) {
        const hf::Shape shape{.vocabulary = 99, .tied = tied};
        const auto base = opened(write({shape, type, shards}));
        auto model = make_cpu_model(spec_of(*base), base.get());
        ASSERT_TRUE(model) << model.error().message();
        const test::State state = test::copy_of((*model)->model_state());
        const auto tensors = hf::tensors_of(shape, type);
        EXPECT_EQ(state.size(), tensors.size());
        for (const hf::OwnedTensor& tensor : tensors) {
          std::vector<float> expected = hf::floats_of(type, tensor.bytes);
          // Rows of padding behind those of the vocabulary, all zero.
          if (tensor.info.shape[0] == 99) expected.resize(expected.size() / 99 * 128, 0.0F);
          const std::vector<float>& got = state.at(tensor.info.name);
          ASSERT_EQ(got.size(), expected.size()) << tensor.info.name;
          EXPECT_EQ(std::memcmp(got.data(), expected.data(), 4 * got.size()), 0)
              << tensor.info.name;
        }
        for (const auto& [name, moments] : test::copy_of((*model)->optimizer_state())) {
          EXPECT_EQ(std::count(moments.begin(), moments.end(), 0.0F),
                    static_cast<std::ptrdiff_t>(moments.size()))
              << name;
        }
      }
    }
  }
}

TEST_F(BaseModelFolder, PaddingStaysZeroInTraining) {
  const auto base = opened(write({.shape = {.vocabulary = 99}, .type = DType::f32}));
  TrainingSpec spec = spec_of(*base);
  spec.weight_decay = 0.1;
  const auto model = *make_cpu_model(spec, base.get());
  for (std::uint64_t i = 1; i <= 5; ++i) test::step(*model, test::tokens(spec, i));
  const test::State state = test::copy_of(model->model_state());
  for (const char* name : {"model.embed_tokens.weight", "lm_head.weight"}) {
    const std::vector<float>& values = state.at(name);
    ASSERT_EQ(values.size(), 128U * 16);
    EXPECT_TRUE(std::all_of(values.begin() + 99 * 16, values.end(), [](float x) { return x == 0; }))
        << name;
  }
}

// Frozen weights lie in the mapped files; only what is padded, or of another type, is copied.
TEST_F(BaseModelFolder, FrozenWeightsAreLookedAtWhereTheyLie) {
  for (const std::int64_t vocabulary : {96, 99}) {
    const auto base = opened(write({.shape = {.vocabulary = vocabulary}, .type = DType::bf16}));
    EXPECT_EQ(base->model().frozen, graph::Element::bf16);
    const TrainingSpec spec = test::with_lora(spec_of(*base));
    const ParameterTable table = make_parameter_table(spec.model, spec.block_size);
    auto fixed = FixedValues::make(spec.model, table, base.get(), 1);
    ASSERT_TRUE(fixed) << fixed.error().message();
    for (std::size_t i = 0; i < table.infos.size(); ++i) {
      const ParameterInfo& info = table.infos[i];
      EXPECT_EQ(fixed->of(i) == nullptr, info.trained()) << info.name;
      if (info.role != Role::frozen) continue;
      const auto tensor = base->find(info.name);
      const bool padded = info.live_rows != info.shape[0];
      EXPECT_EQ(padded, vocabulary == 99 && info.shape[0] == 128) << info.name;
      const bool matrix = info.shape.size() > 1;
      EXPECT_EQ(fixed->of(i) == tensor->bytes.data(), matrix && !padded) << info.name;
      if (!padded) continue;
      const auto* values = static_cast<const std::uint16_t*>(fixed->of(i));
      EXPECT_EQ(std::memcmp(values, tensor->bytes.data(), tensor->bytes.size()), 0);
      EXPECT_TRUE(
          std::all_of(values + 99 * 16, values + 128 * 16, [](std::uint16_t x) { return x == 0; }));
    }
  }
}

// An odd tensor in front moves all others to odd addresses.
TEST_F(BaseModelFolder, TensorsMayLieAnywhere) {
  for (const DType type : {DType::bf16, DType::f32}) {
    const hf::Shape shape{.vocabulary = 96};
    auto tensors = hf::tensors_of(shape, type);
    const auto aligned = opened(write(shape, type, tensors));
    const std::string stray =
        "model.layers.0.self_attn.rotary_emb.inv_freq";  // as older files have it
    tensors.insert(tensors.begin(), {{stray, DType::u8, {3}}, std::vector<std::byte>(3)});
    const auto moved = opened(write(shape, type, tensors));
    EXPECT_THAT(moved->left_out(), ::testing::ElementsAre(stray));
    EXPECT_TRUE(aligned->left_out().empty());
    for (const bool lora : {false, true}) {
      const auto run = [&](const BaseModel& base) {
        TrainingSpec spec = spec_of(base);
        if (lora) spec = test::with_lora(spec, 0.1);
        auto model = make_cpu_model(spec, &base);
        EXPECT_TRUE(model) << model.error().message();
        for (std::uint64_t i = 1; i <= 3; ++i) test::step(**model, test::tokens(spec, i));
        return test::copy_of((*model)->model_state());
      };
      EXPECT_TRUE(test::same_bits(run(*moved), run(*aligned)));
    }
  }
}

// The same numbers, frozen as f32 and as bf16.
TEST_F(BaseModelFolder, ABaseInBf16GivesTheLossOfTheSameNumbersInF32) {
  const auto base = opened(write({.shape = {.vocabulary = 99}, .type = DType::bf16}));
  const TrainingSpec narrow = test::with_lora(spec_of(*base));
  TrainingSpec wide = narrow;
  wide.model.frozen = graph::Element::f32;
  TrainingSpec full = spec_of(*base);
  const auto tokens = test::tokens(narrow, 1);
  const auto loss = [&](const TrainingSpec& spec) {
    auto model = make_cpu_model(spec, base.get());
    EXPECT_TRUE(model) << model.error().message();
    return test::evaluated(**model, tokens);
  };
  EXPECT_EQ(loss(narrow), loss(wide));
  EXPECT_EQ(loss(narrow), loss(full));
}

TEST_F(BaseModelFolder, WhatDoesNotFitItsConfigIsRefusedByItsName) {
  const hf::Shape shape;
  const auto all = hf::tensors_of(shape, DType::f32);
  const std::string name = "model.layers.1.mlp.up_proj.weight";
  const auto changed = [&](auto change) {
    auto tensors = all;
    for (hf::OwnedTensor& tensor : tensors) {
      if (tensor.info.name == name) change(tensor);
    }
    return write(shape, DType::f32, tensors);
  };
  auto missing = all;
  std::erase_if(missing, [&](const hf::OwnedTensor& tensor) { return tensor.info.name == name; });
  EXPECT_THAT(refusal(write(shape, DType::f32, missing)), AllOf(HasSubstr(name), HasSubstr("no")));
  EXPECT_THAT(refusal(changed([](hf::OwnedTensor& tensor) {
                std::swap(tensor.info.shape[0], tensor.info.shape[1]);
              })),
              AllOf(HasSubstr(name), HasSubstr("[16,40]"), HasSubstr("[40,16]")));
  EXPECT_THAT(refusal(changed([](hf::OwnedTensor& tensor) { tensor.info.dtype = DType::i32; })),
              AllOf(HasSubstr(name), HasSubstr("I32")));
  EXPECT_THAT(refusal(changed([](hf::OwnedTensor& tensor) {
                tensor.info.name = "model.layers.1.mlp.other.weight";
              })),
              HasSubstr(name));
}

// Files that hold more than their config.json says would lose it, and the run be one of a stump.
TEST_F(BaseModelFolder, WhatItsConfigHasNoPlaceForIsRefused) {
  const hf::Shape shape;
  auto tensors = hf::tensors_of(shape, DType::f32);
  hf::OwnedTensor extra = tensors.back();
  extra.info.name = "model.layers.0.self_attn.q_proj.bias";
  tensors.push_back(extra);
  const auto with_bias = write(shape, DType::f32, tensors);
  EXPECT_THAT(refusal(with_bias), AllOf(HasSubstr("'model.layers.0.self_attn.q_proj.bias'"),
                                        HasSubstr("no place (1 tensor in all)")));
  tensors.back().info.name = fmt::format("model.layers.{}.mlp.up_proj.weight", shape.layers);
  EXPECT_THAT(refusal(write(shape, DType::f32, tensors)),
              HasSubstr(fmt::format("holds {} layers, and its config.json says {}",
                                    shape.layers + 1, shape.layers)));
  const auto older = BaseModel::open(with_bias.string(), 1);
  ASSERT_TRUE(older) << "a run that began so goes on";
  EXPECT_EQ((*older)->left_out().size(), 1U);
}

TEST_F(BaseModelFolder, AWeightThatIsNoNumberIsNamedWithItsPlace) {
  for (const auto& [type, bits] :
       {std::pair(DType::bf16, 0x7FC0U), {DType::f16, 0x7E00U}, {DType::f32, 0xFF800000U}}) {
    const hf::Shape shape;
    auto tensors = hf::tensors_of(shape, type);
    EXPECT_TRUE(opened(write(shape, type, tensors))->check_numbers());
    for (hf::OwnedTensor& tensor : tensors) {
      if (tensor.info.name != "model.layers.1.mlp.up_proj.weight") continue;
      const std::size_t width = tensor.bytes.size() / (40 * 16);
      std::memcpy(tensor.bytes.data() + (3 * 16 + 5) * width, &bits, width);
    }
    const auto damaged = opened(write(shape, type, tensors))->check_numbers();
    ASSERT_FALSE(damaged);
    EXPECT_EQ(damaged.error().kind, ErrorKind::usage);
    EXPECT_THAT(
        damaged.error().message(),
        HasSubstr(type == DType::f32 ? "'model.layers.1.mlp.up_proj.weight' holds -inf at [3,5]"
                                     : "'model.layers.1.mlp.up_proj.weight' holds nan at [3,5]"));
  }
}

TEST_F(BaseModelFolder, DamageIsForAPersonToMend) {
  const auto folder = write({});
  std::filesystem::resize_file(folder / "model.safetensors", 3000);
  EXPECT_THAT(refusal(folder), HasSubstr("model.safetensors"));
  const auto no_json = write({});
  std::ofstream(no_json / "config.json") << "{";
  EXPECT_THAT(refusal(no_json), HasSubstr("config.json"));
}

TEST_F(BaseModelFolder, ACopyOfATiedHeadMustBeTheEmbedding) {
  const hf::Shape shape{.tied = true};
  auto tensors = hf::tensors_of(shape, DType::bf16);
  const auto embedding =
      std::find_if(tensors.begin(), tensors.end(), [](const hf::OwnedTensor& tensor) {
        return tensor.info.name == "model.embed_tokens.weight";
      });
  hf::OwnedTensor copy = *embedding;
  copy.info.name = "lm_head.weight";
  tensors.push_back(copy);
  const auto base = opened(write(shape, DType::bf16, tensors));
  EXPECT_TRUE(base->model().tied);
  EXPECT_TRUE(base->left_out().empty());
  tensors.back().bytes[7] ^= std::byte{1};
  EXPECT_THAT(refusal(write(shape, DType::bf16, tensors)),
              AllOf(HasSubstr("lm_head.weight"), HasSubstr("tie_word_embeddings")));
}

}  // namespace
}  // namespace trainward::trainer
