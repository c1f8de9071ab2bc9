#include "trainer/device/modules.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "trainer/device/platforms.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/llama/llama_spec.hpp"
#include "trainer/stablehlo/text/print.hpp"

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
  EXPECT_EQ(platform_of("cuda").attention, AttentionUse::where_it_fits);
  EXPECT_EQ(platform_of("tt").attention, AttentionUse::plain);
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

bool sums_over_devices(const stablehlo::Module& module) {
  return std::any_of(module.graph.nodes.begin(), module.graph.nodes.end(), [](const auto& node) {
    return std::holds_alternative<graph::op::AllReduce>(node.op);
  });
}

TEST(Modules, DevicesWaitForEachOtherInTheExchangeAlone) {
  DeviceUse use = use_of(AttentionUse::plain);
  use.placement = Placement::device;
  for (const std::int64_t devices : {1, 2}) {
    use.devices = devices;
    const auto modules = make_modules(fitting_spec(), use);
    ASSERT_TRUE(modules) << modules.error().message();
    for (const stablehlo::Module* module : modules->all()) {
      const bool exchanges = module->name.starts_with("exchange_");
      EXPECT_EQ(sums_over_devices(*module), exchanges) << module->name;
      EXPECT_TRUE(devices > 1 || !exchanges) << module->name;
    }
    EXPECT_EQ(modules->block_group.exchange.has_value(), devices > 1);
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

// SmolLM2-135M's heads: three of queries for each of keys.
TrainingSpec grouped_spec() {
  TrainingSpec spec = fitting_spec();
  spec.model.architecture = find_architecture("llama").value();
  spec.model.width = 96;
  spec.model.heads = 9;
  llama_part(spec.model).kv_heads = 3;
  spec.model.own_head_width = spec.model.rank = 64;
  llama_part(spec.model).inner = 200;
  return spec;
}

std::string text_of(const stablehlo::Module& module) {
  auto text = stablehlo::print(module);
  EXPECT_TRUE(text) << text.error().message();
  return text.value_or("");
}

TEST(Modules, FusedAttentionHasTheHeadsOfKeysThatThereAre) {
  const auto all = make_modules(grouped_spec(), use_of(AttentionUse::fused));
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_THAT(text_of(all->block_forward),
              HasSubstr("(tensor<8x128x9x64xbf16>, tensor<8x128x3x64xbf16>, "
                        "tensor<8x128x3x64xbf16>) -> (tensor<8x9x128x64xbf16>, "
                        "tensor<8x9x128xf32>, tensor<0xui8>)"));
  EXPECT_THAT(text_of(all->block_backward.first),
              HasSubstr("(tensor<8x128x9x64xbf16>, tensor<8x128x3x64xbf16>, "
                        "tensor<8x128x3x64xbf16>, tensor<8x9x128xf32>, tensor<8x128x9x64xbf16>, "
                        "tensor<8x128x9x64xbf16>) -> (tensor<8x9x128x64xbf16>, "
                        "tensor<8x3x128x64xbf16>, tensor<8x3x128x64xbf16>, tensor<0xui8>)"));
}

TEST(Modules, RowsOfSeveralTextsAreNotFused) {
  TrainingSpec spec = grouped_spec();
  spec.segmented = true;
  const auto without = make_modules(spec, use_of(AttentionUse::where_it_fits));
  ASSERT_TRUE(without) << without.error().message();
  EXPECT_FALSE(is_fused(without->block_forward));
  EXPECT_THAT(text_of(without->block_forward), HasSubstr("tensor<8x128xi32>"));
  const auto refused = make_modules(spec, use_of(AttentionUse::fused));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("rows hold several texts"));
}

// Nothing is made of what is frozen: no gradient, no update, no backward of the embedding.
TEST(Modules, OnlyAdaptersAreTrainedOverWhatIsFrozen) {
  for (const graph::Element frozen : {graph::Element::bf16, graph::Element::f32}) {
    TrainingSpec spec = grouped_spec();
    spec.weighted = true;
    spec.model.lora = {.rank = 4, .targets = 0b101};  // q and v
    spec.model.frozen = frozen;
    spec.accumulation = 2;
    DeviceUse use = use_of(AttentionUse::plain);
    use.placement = Placement::device;
    for (const auto target : {stablehlo::Target::general, stablehlo::Target::tiles}) {
      use.target = target;
      const auto all = make_modules(spec, use);
      ASSERT_TRUE(all) << all.error().message();
      constexpr std::size_t adapters = 4;
      EXPECT_EQ(all->block_backward.first.graph.outputs.size(), 1 + adapters);
      EXPECT_EQ(all->block_group.update.graph.outputs.size(), (3 + 1) * adapters) << "packed too";
      EXPECT_EQ(all->outer->head.first.graph.outputs.size(), 2U);
      EXPECT_FALSE(all->outer->head.more);
      EXPECT_FALSE(all->outer->embed_backward);
      EXPECT_FALSE(all->outer->body_group || all->outer->head_group);
      // What is frozen is handed in as it is kept.
      const char* element = frozen == graph::Element::bf16 ? "bf16" : "f32";
      EXPECT_THAT(text_of(all->block_forward),
                  HasSubstr(fmt::format("tensor<200x96x{}>", element)));
      EXPECT_THAT(text_of(all->outer->embed), HasSubstr(fmt::format("tensor<128x96x{}>", element)));
    }
  }
}

TEST(Modules, AHeadInPiecesIsBetweenTwoProgramsThatCutAndJoin) {
  TrainingSpec spec = grouped_spec();
  spec.weighted = true;
  DeviceUse use = use_of(AttentionUse::plain);
  use.placement = Placement::device;
  const auto whole = make_modules(spec, use);
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_FALSE(whole->outer->pieces || whole->outer->head.more);
  EXPECT_THAT(text_of(whole->outer->head.first), HasSubstr("%arg2: tensor<8x128x96xf32>"));
  spec.head_logits = 256 * 128;
  const auto cut = make_modules(spec, use);
  ASSERT_TRUE(cut) << cut.error().message();
  ASSERT_TRUE(cut->outer->pieces && cut->outer->head.more);
  EXPECT_EQ(cut->outer->pieces->cut.graph.outputs.size(), 4U);
  EXPECT_THAT(text_of(cut->outer->head.first), HasSubstr("%arg2: tensor<1x256x96xf32>"));
  for (const stablehlo::Module* module : cut->all()) {
    EXPECT_EQ(text_of(*module).find("1024x128xf32"), std::string::npos)
        << "logits of all positions";
  }
}

}  // namespace
}  // namespace trainward::trainer
