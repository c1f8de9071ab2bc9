#include <gtest/gtest.h>

#include "common/settings/model_presets.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {
namespace {

TEST(PresetsTest, KnowsTheSizesOfThePaper) {
  EXPECT_EQ(preset("micro_3x").value(), (ModelSpec{128, 4, 8, 48, 257}));
  EXPECT_EQ(preset("femto_1x").value(), (ModelSpec{16, 1, 1, 16, 257}));
  EXPECT_EQ(preset("pico_3x").value(), (ModelSpec{32, 1, 2, 48, 257}));
  EXPECT_EQ(preset("nano_96x").value(), (ModelSpec{64, 2, 4, 1536, 257}));
  EXPECT_EQ(preset("smallx2").value(), (ModelSpec{512, 16, 16, 64, 257}));
  EXPECT_EQ(preset("large").value(), (ModelSpec{1024, 24, 16, 128, 257}));
}

TEST(PresetsTest, KnowsThePublishedSizesOfGpt2) {
  const auto model = preset("gpt2").value();
  EXPECT_EQ(architecture_of(model).name(), "gpt2");
  EXPECT_EQ(model.positions, 1024);
  EXPECT_TRUE(model.tied);
  // As published, with the vocabulary that it has there.
  const std::pair<const char*, std::int64_t> counts[] = {{"gpt2", 124'439'808},
                                                         {"gpt2_medium", 354'823'168},
                                                         {"gpt2_large", 774'030'080},
                                                         {"gpt2_xl", 1'557'611'200}};
  for (const auto& [name, count] : counts) {
    ModelSpec sized = preset(name).value();
    sized.vocabulary = 50'257;
    EXPECT_EQ(make_parameter_table(sized, 64).count, count) << name;
  }
}

TEST(PresetsTest, AllCanBeTrained) {
  for (const settings::ModelPreset& known : settings::model_presets) {
    const auto model = preset(known.name);
    ASSERT_TRUE(model) << model.error().message();
    TrainingSpec spec;
    spec.model = *model;
    EXPECT_TRUE(check_spec(spec)) << known.name;
    spec.block_size = known.positions > 0 ? known.positions + 1 : 5000;
    EXPECT_EQ(!check_spec(spec), known.positions > 0) << known.name;
    // What a checkpoint of it shows is what it is.
    const Architecture& architecture = architecture_of(*model);
    Shapes shapes;
    for (const ParameterInfo& info : make_parameter_table(*model, 64).infos) {
      shapes[info.name] = info.shape;
    }
    EXPECT_EQ(architecture_of(shapes), &architecture) << known.name;
    EXPECT_EQ(architecture.sizes(shapes, architecture.facts(*model), model->vocabulary), *model)
        << known.name;
  }
}

TEST(PresetsTest, NamesTheNearestOfAnUnknownOne) {
  auto model = preset("micro3x");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::usage);
  EXPECT_EQ(model.error().hint, "did you mean 'micro_3x'?");
  EXPECT_FALSE(preset("micro_5x"));
  EXPECT_FALSE(preset(""));
}

}  // namespace
}  // namespace trainward::trainer
