#include "trainer/device/modules.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace trainward::trainer {
namespace {

using testing::HasSubstr;

TrainingSpec fitting_spec() {
  TrainingSpec spec;
  spec.model = {.width = 128, .layers = 2, .heads = 2, .rank = 96, .vocabulary = 100};
  spec.block_size = 128;
  spec.precision = graph::Precision::bf16;
  return spec;
}

DeviceUse use_of(AttentionUse attention) {
  DeviceUse use;
  use.attention = attention;
  use.target = stablehlo::Target::general;
  return use;
}

bool is_fused(const stablehlo::Module& module) {
  return std::any_of(module.graph.nodes.begin(), module.graph.nodes.end(), [](const auto& node) {
    return std::holds_alternative<graph::op::Attention>(node.op);
  });
}

bool makes_gradients(const stablehlo::Module& module) {
  return std::any_of(module.graph.nodes.begin(), module.graph.nodes.end(), [](const auto& node) {
    return std::holds_alternative<graph::op::AttentionGradient>(node.op);
  });
}

TEST(Modules, AttentionIsOneOperationWhereItIsAskedForAndFits) {
  EXPECT_EQ(attention_of("cuda"), AttentionUse::where_it_fits);
  EXPECT_EQ(attention_of("tt"), AttentionUse::plain);
  const auto plain = make_modules(fitting_spec(), use_of(AttentionUse::plain));
  ASSERT_TRUE(plain) << plain.error().message();
  EXPECT_FALSE(is_fused(plain->block_forward));
  for (const AttentionUse attention : {AttentionUse::where_it_fits, AttentionUse::fused}) {
    const auto fused = make_modules(fitting_spec(), use_of(attention));
    ASSERT_TRUE(fused) << fused.error().message();
    EXPECT_TRUE(is_fused(fused->block_forward));
    EXPECT_TRUE(is_fused(*fused->block_evaluate));
    EXPECT_TRUE(makes_gradients(fused->block_backward.first));
    EXPECT_FALSE(is_fused(fused->block_backward.first)) << "output and statistics are kept";
    EXPECT_LT(fused->kept, plain->kept);
  }
}

TEST(Modules, AttentionThatDoesNotFit) {
  using Change = void (*)(TrainingSpec&);
  const std::pair<Change, const char*> changes[] = {
      {[](TrainingSpec& spec) { spec.precision = graph::Precision::f32; }, "needs precision bf16"},
      {[](TrainingSpec& spec) { spec.model.rank = 32; }, "the rank is smaller"},
      {[](TrainingSpec& spec) { spec.model.heads = 32; }, "heads are 4 wide"},
      {[](TrainingSpec& spec) {
         spec.model.width = 512;
         spec.model.rank = 512;
       },
       "256 wide"},
      {[](TrainingSpec& spec) { spec.block_size = 100; }, "block_size 100"},
  };
  for (const auto& [change, why] : changes) {
    TrainingSpec spec = fitting_spec();
    change(spec);
    const auto without = make_modules(spec, use_of(AttentionUse::where_it_fits));
    ASSERT_TRUE(without) << without.error().message();
    EXPECT_FALSE(is_fused(without->block_forward)) << why;
    const auto refused = make_modules(spec, use_of(AttentionUse::fused));
    ASSERT_FALSE(refused) << why;
    EXPECT_THAT(refused.error().message(), HasSubstr(why));
  }
}

}  // namespace
}  // namespace trainward::trainer
