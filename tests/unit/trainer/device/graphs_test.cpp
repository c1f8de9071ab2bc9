// The graphs that only devices run, on the CPU executor: they must do what the host's own loops and
// the undivided segments do.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cpu/harness.hpp"
#include "trainer/device/head_parts.hpp"
#include "trainer/device/head_pieces.hpp"
#include "trainer/device/optimizer_graphs.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {
namespace {

using graph::Element;
using graph::Graph;
using graph::Type;
using graph::test::Draw;
using graph::test::Numbers;
using Words = std::vector<std::vector<std::uint32_t>>;

Numbers as_floats(Numbers numbers) {
  for (double& x : numbers) x = static_cast<double>(static_cast<float>(x));
  return numbers;
}

std::vector<float> floats(const Numbers& numbers) {
  std::vector<float> all;
  for (const double x : numbers) all.push_back(static_cast<float>(x));
  return all;
}

std::vector<Numbers> arguments(const Graph& graph, std::uint64_t seed, std::int64_t ids) {
  Draw draw(seed);
  std::vector<Numbers> all;
  for (const graph::Value parameter : graph.parameters) {
    const Type& type = graph.type(parameter);
    all.push_back(type.element == Element::i32 ? draw.ids(type.shape, ids)
                                               : as_floats(draw.numbers(type.shape, -1, 1)));
  }
  return all;
}

TEST(UpdateGraph, DoesWhatTheHostsLoopDoes) {
  const std::uint64_t seed = 71;
  SCOPED_TRACE(seed);
  Draw draw(seed);
  const Type type{Element::f32, {5, 7}};
  optim::AdamWOptions options;
  options.weight_decay = 0.03;
  options.gradient_clip = 0.5;
  optim::AdamW host(options, {{0, 35, 0.01}}, 35, 1);
  auto graph = make_update({type}, {true}, {true}, options);
  ASSERT_TRUE(graph) << graph.error().message();

  Numbers p = as_floats(draw.numbers(type.shape, -1, 1));
  Numbers m(35), v(35);
  std::vector<float> flat_p = floats(p);
  std::vector<float> flat_m(35), flat_v(35);
  for (std::int64_t t = 1; t <= 4; ++t) {
    const Numbers g = as_floats(draw.numbers(type.shape, -1, 1));
    const std::vector<float> flat_g = floats(g);
    host.add_to_norm(flat_g);
    std::vector<Numbers> inputs;
    for (const float factor : values_of(host.factors(0.01, t))) {
      inputs.push_back({static_cast<double>(factor)});
    }
    inputs.insert(inputs.end(), {p, g, m, v});
    const Words outputs = cpu::test::execute(*graph, 1, inputs);
    host.step({flat_p, flat_g, flat_m, flat_v}, t);
    p = cpu::test::numbers_of(outputs[0], Element::f32);
    m = cpu::test::numbers_of(outputs[1], Element::f32);
    v = cpu::test::numbers_of(outputs[2], Element::f32);
    const Numbers half = cpu::test::numbers_of(outputs[3], Element::bf16);
    for (std::size_t i = 0; i < 35; ++i) {
      ASSERT_NEAR(p[i], static_cast<double>(flat_p[i]), 1e-7) << "step " << t;
      ASSERT_NEAR(m[i], static_cast<double>(flat_m[i]), 1e-7);
      ASSERT_NEAR(v[i], static_cast<double>(flat_v[i]), 1e-7);
      ASSERT_EQ(half[i], graph::test::rounded_to_bf16(p[i]));
    }
  }
}

// As the host has it: a group of its own, whose factor is 1.
TEST(UpdateGraph, WhatDoesNotDecayKeepsItsSize) {
  const Type type{Element::f32, {3}};
  optim::AdamWOptions options;
  options.weight_decay = 0.5;
  optim::AdamW host(options, {{0, 3, 0.1}, {16, 19, 0.1, false}}, 32, 1);
  auto graph = make_update({type, type}, {true, false}, {false, false}, options);
  ASSERT_TRUE(graph) << graph.error().message();
  const Numbers p{1, -2, 3};
  const Numbers g{0.5, 0.25, -1};
  std::vector<float> flat(32), gradients(32), mean(32), variance(32);
  for (const std::size_t begin : {0U, 16U}) {
    std::copy(p.begin(), p.end(), flat.begin() + begin);
    std::copy(g.begin(), g.end(), gradients.begin() + begin);
  }
  host.add_to_norm(gradients);
  std::vector<Numbers> inputs;
  for (const float factor : values_of(host.factors(0.1, 1))) {
    inputs.push_back({static_cast<double>(factor)});
  }
  const Numbers zero(3);
  inputs.insert(inputs.end(), {p, p, g, g, zero, zero, zero, zero});
  const Words outputs = cpu::test::execute(*graph, 1, inputs);
  host.step({flat, gradients, mean, variance}, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(cpu::test::numbers_of(outputs[0], Element::f32)[i], flat[i], 1e-6);
    EXPECT_NEAR(cpu::test::numbers_of(outputs[1], Element::f32)[i], flat[16 + i], 1e-6);
    EXPECT_GT(std::abs(flat[i] - flat[16 + i]), 0.04F);
  }
}

TEST(FinishGraph, AddsTheSquaresOfAllGradients) {
  const std::vector<Type> types{{Element::f32, {3}}, {Element::f32, {2, 2}}};
  auto graph = make_finish(types, {1, 0.25});
  ASSERT_TRUE(graph) << graph.error().message();
  EXPECT_EQ(graph->outputs.size(), 1U);
  const Words outputs = cpu::test::execute(*graph, 1, {{10}, {1, 2, 3}, {1, 1, 1, -2}});
  EXPECT_EQ(cpu::test::numbers_of(outputs[0], Element::f32), Numbers{10 + 14 + 7 / 4.0});
}

TEST(ExchangeGraph, SumsEachGradient) {
  auto graph = make_exchange({{Element::f32, {3}}, {Element::f32, {2, 2}}}, {{2}, {3, 4}});
  ASSERT_TRUE(graph) << graph.error().message();
  // As if the other devices had the same.
  const auto sums = graph::test::interpret(*graph, {{1, 2, 3}, {1, 1, 1, -2}});
  EXPECT_EQ(sums[0], (Numbers{2, 4, 6}));
  EXPECT_EQ(sums[1], (Numbers{3, 3, 3, -6}));
}

TEST(SumGraph, AddsToWhatIsGiven) {
  TrainingSpec spec;
  spec.model = {.width = 8, .layers = 1, .heads = 2, .rank = 4, .vocabulary = 11};
  spec.batch_size = 1;
  spec.block_size = 6;
  auto segments = make_segments(spec);
  ASSERT_TRUE(segments);
  auto adding = add_to_sums(segments->head, 2);
  ASSERT_TRUE(adding) << adding.error().message();
  std::vector<Numbers> inputs = arguments(segments->head, 3, 11);
  const Words once = cpu::test::execute(segments->head, 1, inputs);
  for (std::size_t k = 2; k < once.size(); ++k) {
    inputs.push_back(cpu::test::numbers_of(once[k], Element::f32));
  }
  const Words twice = cpu::test::execute(*adding, 1, inputs);
  EXPECT_EQ(twice[0], once[0]);
  EXPECT_EQ(twice[1], once[1]);
  for (std::size_t k = 2; k < once.size(); ++k) {
    const Numbers one = cpu::test::numbers_of(once[k], Element::f32);
    const Numbers two = cpu::test::numbers_of(twice[k], Element::f32);
    for (std::size_t i = 0; i < one.size(); ++i) ASSERT_EQ(two[i], 2 * one[i]);
  }
}

TEST(HeadParts, TogetherGiveTheBitsOfTheWhole) {
  for (const bool tied : {false, true}) {
    TrainingSpec spec;
    spec.model = {.width = 16, .layers = 1, .heads = 2, .rank = 8, .vocabulary = 37, .tied = tied};
    spec.batch_size = 2;
    spec.block_size = 12;
    spec.label_smoothing = 0.1;
    auto segments = make_segments(spec);
    ASSERT_TRUE(segments);
    const HeadParts parts = split_head(segments->head);
    ASSERT_FALSE(parts.parameters.outputs.empty());
    std::vector<Numbers> inputs = arguments(segments->head, 5, 37);
    const Words whole = cpu::test::execute(segments->head, 2, inputs);
    const Words first = cpu::test::execute(parts.input, 2, inputs);
    for (std::size_t k = 2; k < first.size(); ++k) {
      inputs.push_back(
          cpu::test::numbers_of(first[k], parts.input.type(parts.input.outputs[k]).element));
    }
    Words both(first.begin(), first.begin() + 2);
    for (const auto& words : cpu::test::execute(parts.parameters, 2, inputs)) both.push_back(words);
    EXPECT_EQ(both, whole) << "tied " << tied;
  }
}

// Each piece's second part makes again what it needs of the first, and gets the same.
TEST(HeadParts, WithNothingKeptGiveTheBitsOfTheWhole) {
  TrainingSpec spec;
  spec.model = {.width = 16, .layers = 1, .heads = 2, .rank = 8, .vocabulary = 37};
  spec.batch_size = 2;
  spec.block_size = 64;
  spec.weighted = true;
  spec.head_logits = 1;
  auto segments = make_segments(spec);
  ASSERT_TRUE(segments);
  const HeadParts parts = split_head(segments->head, Keeping::nothing);
  EXPECT_EQ(parts.input.outputs.size(), 2U);
  const std::vector<Numbers> inputs = arguments(segments->head, 5, 37);
  Words both = cpu::test::execute(parts.input, 2, inputs);
  for (const auto& words : cpu::test::execute(parts.parameters, 2, inputs)) both.push_back(words);
  EXPECT_EQ(both, cpu::test::execute(segments->head, 2, inputs));
}

TEST(HeadPieces, AreOfOneBatchAndComeTogetherAgain) {
  TrainingSpec spec;
  spec.model = {.width = 3, .layers = 1, .heads = 1, .rank = 3, .vocabulary = 37};
  spec.batch_size = 3;
  spec.block_size = 64;
  spec.weighted = true;
  EXPECT_EQ(head_pieces(spec), 1);
  spec.head_logits = 1;
  ASSERT_EQ(head_pieces(spec), 3);
  Draw draw(9);
  const Numbers x = as_floats(draw.numbers({3, 64, 3}, -1, 1));
  auto cut = make_cut(spec);
  ASSERT_TRUE(cut) << cut.error().message();
  std::vector<Numbers> pieces;
  for (const auto& words : cpu::test::execute(*cut, 1, {x})) {
    pieces.push_back(cpu::test::numbers_of(words, Element::f32));
  }
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[1], Numbers(x.begin() + 192, x.begin() + 384));
  pieces.insert(pieces.end(), {{1}, {2}, {4}});
  auto join = make_join(spec);
  ASSERT_TRUE(join) << join.error().message();
  const Words joined = cpu::test::execute(*join, 1, pieces);
  EXPECT_EQ(cpu::test::numbers_of(joined[0], Element::f32), Numbers{7});
  EXPECT_EQ(cpu::test::numbers_of(joined[1], Element::f32), x);
}

}  // namespace
}  // namespace trainward::trainer
