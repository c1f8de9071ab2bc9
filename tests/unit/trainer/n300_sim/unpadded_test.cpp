#include "trainer/n300_sim/unpadded.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/reference.hpp"
#include "stablehlo/random_graph.hpp"
#include "trainer/model/training/segments.hpp"
#include "trainer/stablehlo/lower.hpp"

namespace trainward::n300 {
namespace {

using graph::Graph;
using graph::Value;
using graph::test::Draw;
using graph::test::Numbers;

std::vector<Numbers> arguments(const Graph& graph, Draw& draw) {
  std::vector<Numbers> all;
  for (const Value parameter : graph.parameters) {
    const graph::Type& type = graph.type(parameter);
    all.push_back(type.element == graph::Element::i32
                      ? draw.ids(type.shape, stablehlo::test::id_limit)
                      : draw.numbers(type.shape, -1, 1));
    if (type.element != graph::Element::bf16) continue;
    for (double& x : all.back()) x = graph::test::rounded_to_bf16(x);
  }
  return all;
}

std::size_t count_pads(const Graph& graph) {
  std::size_t count = 0;
  for (const graph::Node& node : graph.nodes) {
    count += std::holds_alternative<graph::op::Pad>(node.op) ? 1 : 0;
  }
  return count;
}

TEST(Unpadded, ComputesTheSame) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Draw draw(seed);
    const auto lowered = stablehlo::lower(stablehlo::test::random_graph(draw, true));
    ASSERT_TRUE(lowered) << lowered.error().message();
    const auto bare = without_padding(*lowered);
    ASSERT_TRUE(bare) << bare.error().message();
    ASSERT_EQ(bare->parameters.size(), lowered->parameters.size());
    const std::vector<Numbers> inputs = arguments(*lowered, draw);
    const std::vector<Numbers> expected = graph::test::interpret(*lowered, inputs);
    const std::vector<Numbers> got = graph::test::interpret(*bare, inputs);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      ASSERT_EQ(bare->type(bare->outputs[k]), lowered->type(lowered->outputs[k]));
      for (std::size_t i = 0; i < expected[k].size(); ++i) {
        ASSERT_NEAR(got[k][i], expected[k][i], 1e-9 * (1 + std::abs(expected[k][i])));
      }
    }
  }
}

TEST(Unpadded, NothingOfTheModelsBlocksIsPaddedAnyMore) {
  trainer::TrainingSpec spec;  // heads of 16, a rank of 48
  const auto segments = trainer::make_segments(spec);
  ASSERT_TRUE(segments);
  for (const Graph* graph : {&segments->block_forward, &segments->block_backward}) {
    const auto lowered = stablehlo::lower(*graph);
    ASSERT_TRUE(lowered);
    EXPECT_GT(count_pads(*lowered), 0U);
    const auto bare = without_padding(*lowered);
    ASSERT_TRUE(bare);
    EXPECT_EQ(count_pads(*bare), 0U);
  }
}

}  // namespace
}  // namespace trainward::n300
