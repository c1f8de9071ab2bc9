// Rounding and widening the operands of products: where it is done changes no value.
#include "trainer/graph/products.hpp"

#include <gtest/gtest.h>

#include "graph/print.hpp"
#include "graph/reference.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/differentiate.hpp"
#include "trainer/graph/passes.hpp"

namespace trainward::graph {
namespace {

using test::Draw;
using test::Numbers;

const auto all = [](std::size_t) { return true; };

// Products in both precisions of square matrices and looks at them, each used again and again.
Graph random_products(Draw& draw) {
  Builder b(Precision::bf16);
  const std::int64_t n = draw.size(1, 4);
  const Type square{Element::f32, {n, n}};
  std::vector<Value> values{b.parameter("x", square), b.parameter("y", square),
                            b.parameter("z", square)};
  const auto pick = [&] {
    return values[static_cast<std::size_t>(
        draw.size(0, static_cast<std::int64_t>(values.size()) - 1))];
  };
  for (int i = 0; i < 20; ++i) {
    const Value v = pick();
    switch (draw.size(0, 6)) {
      case 0:
        values.push_back(b.transpose(v, {1, 0}));
        break;
      case 1:
        values.push_back(b.transpose(b.reshape(b.reshape(v, {n * n}), {n, n}), {1, 0}));
        break;
      case 2:
        values.push_back(b.broadcast(b.reshape(b.slice(v, {0, 0}, {1, n}), {n}), {1}, {n, n}));
        break;
      case 3:
        values.push_back(b.append(op::DotGeneral{{}, {}, {1}, {0}}, {v, pick()}));
        break;
      case 4:
        values.push_back(b.scale(v, 0.7));
        break;
      default:
        values.push_back(b.dot(v, pick(), {{}, {}, {draw.size(0, 1)}, {draw.size(0, 1)}}));
    }
  }
  return *b.finish(std::vector{pick(), pick(), values.back()});
}

TEST(Products, RoundingAndWideningOperandsChangesNoResult) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Draw draw(seed);
    const Graph graph = random_products(draw);
    std::vector<Numbers> inputs;
    for (const Value parameter : graph.parameters) {
      inputs.push_back(draw.numbers(graph.type(parameter).shape, -2, 2));
    }
    const std::vector<Numbers> expected = test::interpret(graph, inputs);
    const Graph rounded = round_operands(graph);
    for (const Node& node : rounded.nodes) {
      const auto* dot = std::get_if<op::DotGeneral>(&node.op);
      if (dot == nullptr) continue;
      const bool bf16 = rounded.type(node.inputs[0]).element == Element::bf16;
      EXPECT_EQ(bf16, dot->precision == Precision::bf16);
    }
    EXPECT_EQ(test::interpret(rounded, inputs), expected);
    EXPECT_EQ(test::interpret(simplify(rounded), inputs), expected);
    EXPECT_EQ(print(round_operands(rounded)), print(rounded));
    const Graph widened = widen_operands(rounded);
    for (const Node& node : widened.nodes) {
      if (!std::holds_alternative<op::DotGeneral>(node.op)) continue;
      EXPECT_EQ(widened.type(node.inputs[0]).element, Element::f32);
    }
    EXPECT_EQ(test::interpret(widened, inputs), expected);

    const Graph packed = pack_parameters(simplify(rounded), all);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (packed.type(packed.parameters[k]).element != Element::bf16) continue;
      for (double& x : inputs[k]) x = test::rounded_to_bf16(x);
    }
    EXPECT_EQ(test::interpret(packed, inputs), expected);
  }
}

TEST(Products, AWeightIsConvertedOnceAndThenComesPacked) {
  Builder b(Precision::bf16);
  const Value x = b.parameter("x", {Element::f32, {5, 4}});
  const Value w = b.parameter("w", {Element::f32, {4, 4}});
  const Value first = b.dot(x, b.transpose(w, {1, 0}), {{}, {}, {1}, {0}});
  const Value second = b.dot(b.exp(first), w, {{}, {}, {1}, {0}});
  const Graph rounded = round_operands(*b.finish(std::vector{second}));
  const std::string packed_weight =
      "%0 = parameter name=x : f32[5,4]\n"
      "%1 = parameter name=w : bf16[4,4]\n"
      "%2 = convert %0 to=bf16 : bf16[5,4]\n"
      "%3 = transpose %1 permutation=[1,0] : bf16[4,4]\n"
      "%4 = dot_general %2, %3 batch=[]x[] contract=[1]x[0] algorithm=bf16_bf16_f32 : f32[5,4]\n"
      "%5 = exponential %4 : f32[5,4]\n"
      "%6 = convert %5 to=bf16 : bf16[5,4]\n"
      "%7 = dot_general %6, %1 batch=[]x[] contract=[1]x[0] algorithm=bf16_bf16_f32 : f32[5,4]\n"
      "return %7\n";
  const auto but_x = [](std::size_t position) { return position != 0; };
  EXPECT_EQ(print(simplify(pack_parameters(simplify(rounded), but_x))), packed_weight);
}

TEST(Products, AParameterThatIsReadInFullStaysAsItIs) {
  Builder b(Precision::bf16);
  const Type square{Element::f32, {3, 3}};
  const Value read = b.parameter("read", square);
  const Value out = b.parameter("out", square);
  b.parameter("unused", square);
  const Value product = b.dot(read, out, {{}, {}, {1}, {0}});
  const Graph graph =
      pack_parameters(round_operands(*b.finish(std::vector{b.add(product, read), out})), all);
  for (const Value parameter : graph.parameters) EXPECT_EQ(graph.type(parameter), square);
}

// As if the rounded operands and the rounded cotangent had been given.
TEST(Products, GradientIsThatOfTheRoundedComputation) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Draw draw(seed);
    const std::int64_t batch = draw.size(1, 3);
    const std::int64_t m = draw.size(1, 4);
    const std::int64_t n = draw.size(1, 4);
    const std::int64_t k = draw.size(1, 4);
    std::vector<Graph> graphs;
    for (const Precision precision : {Precision::bf16, Precision::f32}) {
      Builder b(precision);
      const Value x = b.parameter("x", {Element::f32, {m, batch, k}});
      const Value y = b.parameter("y", {Element::f32, {batch, k, n}});
      const Value product = b.dot(x, y, {{1}, {0}, {2}, {1}});
      const Value g = b.parameter("g", b.type(product));
      std::vector<Value> outputs =
          differentiate(b, std::span(&product, 1), std::span(&g, 1), std::vector{x, y});
      outputs.push_back(product);
      graphs.push_back(*b.finish(outputs));
    }
    std::vector<Numbers> inputs{draw.numbers({m, batch, k}, -2, 2),
                                draw.numbers({batch, k, n}, -2, 2),
                                draw.numbers({batch, m, n}, -2, 2)};
    const std::vector<Numbers> got = test::interpret(round_operands(graphs[0]), inputs);
    EXPECT_EQ(got, test::interpret(graphs[0], inputs));
    for (Numbers& input : inputs) {
      for (double& value : input) value = test::rounded_to_bf16(value);
    }
    EXPECT_EQ(got, test::interpret(graphs[1], inputs));
  }
}

}  // namespace
}  // namespace trainward::graph
