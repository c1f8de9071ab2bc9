// The model's own graphs on the executor, threaded, against the reference interpreter; and the
// pieces of the model against formulas written out by hand.
#include "trainer/model/training/segments.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "cpu/harness.hpp"
#include "trainer/batch/token_batch.hpp"
#include "trainer/graph/differentiate.hpp"
#include "trainer/graph/products.hpp"
#include "trainer/model/agillm3/agillm3.hpp"
#include "trainer/model/layers.hpp"

namespace trainward::trainer {
namespace {

using graph::Builder;
using graph::Element;
using graph::Graph;
using graph::Value;
using graph::test::Draw;
using graph::test::Numbers;

void expect_agreement(const char* name, const Graph& graph, std::uint64_t seed, std::int64_t ids,
                      double slack = 2e-5) {
  SCOPED_TRACE(name);
  Draw draw(seed);
  std::vector<Numbers> inputs;
  for (const Value parameter : graph.parameters) {
    const graph::Type& type = graph.type(parameter);
    inputs.push_back(type.element == Element::i32 ? draw.ids(type.shape, ids)
                                                  : draw.numbers(type.shape, -0.5, 0.5));
    // Kept sums and powers must be positive, as they are in a real step.
    const std::string& called = std::get<graph::op::Parameter>(graph.node(parameter).op).name;
    for (double& x : inputs.back()) {
      if (called.starts_with("saved.")) x = 1 + std::abs(x);
      x = static_cast<double>(static_cast<float>(x));
      if (type.element == Element::bf16) x = graph::test::rounded_to_bf16(x);
    }
  }
  const std::vector<Numbers> expected = graph::test::interpret(graph, inputs);
  const auto outputs = cpu::test::execute(graph, 2, inputs);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const Numbers got = cpu::test::numbers_of(outputs[k], graph.type(graph.outputs[k]).element);
    double largest = 0;
    for (const double x : expected[k]) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], expected[k][i], slack * (1 + largest)) << "output " << k << " at " << i;
    }
  }
}

TEST(Segments, AgreeWithTheReference) {
  TrainingSpec spec;
  spec.model = {.width = 24, .layers = 1, .heads = 3, .rank = 10, .vocabulary = 37};
  spec.batch_size = 2;
  spec.block_size = 40;
  for (const bool recompute : {false, true}) {
    spec.recompute = recompute;
    const Result<Segments> segments = make_segments(spec);
    ASSERT_TRUE(segments);
    EXPECT_EQ(segments->kept.empty(), recompute);
    expect_agreement("embed", segments->embed, 1, 37);
    expect_agreement("block forward", segments->block_forward, 2, 37);
    expect_agreement("head", segments->head, 3, 37);
    expect_agreement("block backward", segments->block_backward, 4, 37);
    expect_agreement("embed backward", segments->embed_backward, 5, 37);
  }
}

// The same in bf16, but for values that lie half way between two of them.
TEST(Segments, AgreeWithTheReferenceInBf16) {
  TrainingSpec spec;
  spec.model = {.width = 24, .layers = 1, .heads = 3, .rank = 10, .vocabulary = 37};
  spec.batch_size = 2;
  spec.block_size = 40;
  spec.precision = graph::Precision::bf16;
  for (const bool recompute : {false, true}) {
    spec.recompute = recompute;
    const Result<Segments> segments = make_segments(spec);
    ASSERT_TRUE(segments);
    for (const auto& [name, graph] : {std::pair("block forward", &segments->block_forward),
                                      {"block evaluate", &segments->block_evaluate},
                                      {"head", &segments->head},
                                      {"head evaluate", &segments->head_evaluate},
                                      {"block backward", &segments->block_backward}}) {
      expect_agreement(name, *graph, 6, 37, 4e-3);
    }
  }
}

std::size_t bytes_of(const std::vector<graph::Type>& types) {
  std::size_t bytes = 0;
  for (const graph::Type& type : types) {
    bytes +=
        static_cast<std::size_t>(graph::element_count(type.shape)) * cpu::bytes_of(type.element);
  }
  return bytes;
}

TEST(Segments, InBf16WeightsComePackedAndLessIsKept) {
  TrainingSpec spec;
  const Segments plain = *make_segments(spec);
  spec.precision = graph::Precision::bf16;
  const Segments segments = *make_segments(spec);
  for (const Graph* graph : {&segments.block_forward, &segments.block_backward,
                             &segments.block_evaluate, &segments.head, &segments.head_evaluate}) {
    for (const Value parameter : graph->parameters) {
      const std::string& name = std::get<graph::op::Parameter>(graph->node(parameter).op).name;
      const bool packed = name.ends_with(".U") || name.ends_with("proj.weight") ||
                          name.ends_with("q.weight") || name.ends_with("k.weight") ||
                          name.ends_with("v.weight") || name.ends_with("ff.0.weight") ||
                          name.ends_with("ff.2.weight");
      if (name.starts_with("saved.")) continue;
      EXPECT_EQ(graph->type(parameter).element == Element::bf16, packed) << name;
    }
  }
  // Nothing is kept as f32 that the backward only reads as bf16.
  const Graph& backward = segments.block_backward;
  const Graph packed = graph::pack_parameters(backward, [](std::size_t) { return true; });
  for (std::size_t k = 0; k < packed.parameters.size(); ++k) {
    EXPECT_EQ(packed.type(packed.parameters[k]), backward.type(backward.parameters[k])) << k;
  }
  EXPECT_LT(static_cast<double>(bytes_of(segments.kept)),
            0.9 * static_cast<double>(bytes_of(plain.kept)));
}

// The rank is narrower and wider than a head, and as wide.
class AttentionOfRank : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, AttentionOfRank, ::testing::Values(2, 3, 7));

TEST_P(AttentionOfRank, EqualsTheFormula) {
  constexpr std::size_t n = 5, d = 6, heads = 2, dk = 3;
  const std::size_t r = GetParam();
  Draw draw(8);
  Builder b;
  const auto matrix = [&](const char* name, std::size_t rows, std::size_t columns) {
    return b.parameter(
        name,
        {Element::f32, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)}});
  };
  const Value x = b.parameter("x", {Element::f32, {1, n, d}});
  const RankedWeights weights{matrix("q", d, d), matrix("k", d, d), matrix("v", d, d),
                              matrix("u", dk, r)};
  const Value proj = matrix("proj", d, d);
  const Value mixed = causal_attention(b, project_ranked(b, x, weights), score_scale(d / heads));
  const Graph graph = *b.finish(std::vector{linear(b, mixed, proj)});
  std::vector<Numbers> in;
  for (const Value parameter : graph.parameters)
    in.push_back(draw.numbers(graph.type(parameter).shape, -1, 1));
  const Numbers got = graph::test::interpret(graph, in)[0];

  const auto project = [&](std::size_t which, std::size_t i, std::size_t row) {
    double sum = 0;
    for (std::size_t c = 0; c < d; ++c) sum += in[0][i * d + c] * in[which][row * d + c];
    return sum;
  };
  const auto ranked = [&](std::size_t which, std::size_t i, std::size_t h, std::size_t j) {
    double sum = 0;
    for (std::size_t c = 0; c < dk; ++c) sum += project(which, i, h * dk + c) * in[4][c * r + j];
    return sum;
  };
  Numbers merged(n * d);
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> weight(i + 1);
      double total = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        double score = 0;
        for (std::size_t c = 0; c < r; ++c) score += ranked(1, i, h, c) * ranked(2, j, h, c);
        weight[j] = std::exp(score / std::sqrt(static_cast<double>(dk)));
        total += weight[j];
      }
      for (std::size_t c = 0; c < dk; ++c) {
        for (std::size_t j = 0; j <= i; ++j) {
          merged[i * d + h * dk + c] += weight[j] / total * project(3, j, h * dk + c);
        }
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t o = 0; o < d; ++o) {
      double expected = 0;
      for (std::size_t c = 0; c < d; ++c) expected += merged[i * d + c] * in[5][o * d + c];
      EXPECT_NEAR(got[i * d + o], expected, 1e-12);
    }
  }
}

// Heads of keys: as many as of queries, or fewer.
class AttentionOfHeads : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(OfKeys, AttentionOfHeads, ::testing::Values(6, 2, 1));

// Outputs and gradients of both forms, over the same rounded inputs.
TEST_P(AttentionOfHeads, AsOneOperationIsTheSame) {
  const graph::Type type{Element::f32, {2, 5, 6, 4}};
  const graph::Type of_keys{Element::f32, {2, 5, GetParam(), 4}};
  Draw draw(19);
  std::vector<Numbers> in{draw.numbers(type.shape, -1, 1)};
  for (int i = 0; i < 2; ++i) in.push_back(draw.numbers(of_keys.shape, -1, 1));
  in.push_back(draw.numbers({2, 5, 24}, -1, 1));
  std::vector<std::vector<Numbers>> results;
  for (const bool fused : {false, true}) {
    Builder b;
    const std::vector<Value> wrt{b.parameter("q", type), b.parameter("k", of_keys),
                                 b.parameter("v", of_keys)};
    const Value cotangent = b.parameter("d", {Element::f32, {2, 5, 24}});
    std::vector<Value> parts;
    for (const Value part : wrt) {
      parts.push_back(b.convert(b.convert(part, Element::bf16), Element::f32));
    }
    const QueryKeyValue qkv{parts[0], parts[1], parts[2]};
    const Value mixed = fused ? fused_attention(b, qkv, 0.5) : causal_attention(b, qkv, 0.5);
    std::vector<Value> outputs =
        graph::differentiate(b, std::span(&mixed, 1), std::span(&cotangent, 1), wrt);
    outputs.push_back(mixed);
    const auto graph = b.finish(outputs);
    ASSERT_TRUE(graph.has_value()) << graph.error().message();
    results.push_back(graph::test::interpret(*graph, in));
  }
  for (std::size_t k = 0; k < results[0].size(); ++k) {
    for (std::size_t i = 0; i < results[0][k].size(); ++i) {
      EXPECT_NEAR(results[0][k][i], results[1][k][i], 0.02) << k << " " << i;
    }
  }
}

TEST(Attention, RefusesAWidthThatHeadsDoNotMakeUp) {
  Builder b;
  split_heads(b, b.parameter("x", {Element::f32, {1, 4, 6}}), 4);
  ASSERT_TRUE(b.error());
  EXPECT_EQ(b.error()->what, "attention: f32[1,4,6] does not divide into heads of 4");
}

// Weights are those of the token that is predicted; the last token of a row, cut or not, predicts
// nothing.
TEST(Predictions, OfAPositionAreTheNextOfItsRow) {
  const std::vector<std::int32_t> ids{1, 2, 3, 4, 5, 6};
  const std::vector<float> of{0.5F, 0, 2, 3, 4, 5};
  std::vector<std::int32_t> targets(6);
  std::vector<float> weights(6);
  set_predictions({ids, of, {}}, 3, 3, targets, weights);
  EXPECT_EQ(targets, (std::vector<std::int32_t>{2, 3, 0, 5, 6, 0}));
  EXPECT_EQ(weights, (std::vector<float>{0, 2, 0, 4, 5, 0}));
  targets.assign(4, -1);
  weights.assign(4, -1);
  set_predictions({ids, of, {}}, 3, 2, targets, weights);
  EXPECT_EQ(targets, (std::vector<std::int32_t>{2, 0, 5, 0}));
  EXPECT_EQ(weights, (std::vector<float>{0, 0, 4, 0}));
}

}  // namespace
}  // namespace trainward::trainer
