// Passes keep results; the printed form shows what they did.
#include "trainer/graph/passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "graph/print.hpp"
#include "graph/reference.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/differentiate.hpp"

namespace trainward::graph {
namespace {

const Type f4{Element::f32, {4}};

TEST(Print, ShowsNodesInOrder) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {2, 3}});
  const Value total = b.sum(b.mul(x, x), {0, 1});
  EXPECT_EQ(print(*b.finish(std::vector{total})),
            "%0 = parameter name=x : f32[2,3]\n"
            "%1 = multiply %0, %0 : f32[2,3]\n"
            "%2 = reduce %1 kind=sum axes=[0,1] : f32[]\n"
            "return %2\n");
}

TEST(Simplify, MergesEqualNodesAndDropsUnused) {
  Builder b;
  const Value x = b.parameter("x", f4);
  b.parameter("unused", f4);
  b.log(x);
  const Value sum = b.add(b.exp(x), b.exp(x));
  const Graph graph = simplify(*b.finish(std::vector{sum, b.exp(x)}));
  EXPECT_EQ(print(graph),
            "%0 = parameter name=x : f32[4]\n"
            "%1 = parameter name=unused : f32[4]\n"
            "%2 = exponential %0 : f32[4]\n"
            "%3 = add %2, %2 : f32[4]\n"
            "return %3, %2\n");
}

TEST(Simplify, KeepsConstantsThatDifferInTheLastBit) {
  Builder b;
  const Value x = b.parameter("x", f4);
  const Value y = b.add(b.scale(x, 0.1), b.scale(x, std::nextafter(0.1, 1.0)));
  EXPECT_EQ(simplify(*b.finish(std::vector{y})).nodes.size(), 6U);
}

TEST(Simplify, FoldsConstantsAndWhatChangesNothing) {
  Builder b;
  const Value x = b.parameter("x", f4);
  const Value half = b.scale(b.exp(b.constant(0, f4)), 0.5);
  const Value spread = b.broadcast(b.sum(half, {0}), {}, {4});  // 2
  const Value same = b.neg(b.neg(b.transpose(b.reshape(b.add(x, b.constant(0, f4)), {4}), {0})));
  const Value picked = b.select(b.compare(Direction::gt, spread, half), same, b.log(x));
  const Graph graph =
      simplify(*b.finish(std::vector{b.mul(b.div(picked, b.scale(half, 2)), spread)}));
  EXPECT_EQ(print(graph),
            "%0 = parameter name=x : f32[4]\n"
            "%1 = constant value=2 bits=0x1p+1 : f32[4]\n"
            "%2 = multiply %0, %1 : f32[4]\n"
            "return %2\n");
}

// What is computed while folding is what the operations compute.
TEST(Simplify, FoldsToWhatTheReferenceComputes) {
  test::Draw draw(22);
  for (int round = 0; round < 200; ++round) {
    Builder b;
    const auto real = [&] {
      return b.constant(static_cast<double>(static_cast<float>(draw.number(-3, 3))), f4);
    };
    const auto whole = [&] {
      return b.constant(static_cast<double>(draw.size(INT32_MIN, INT32_MAX)), {Element::i32, {4}});
    };
    const Value a = real();
    const Value c = real();
    const Value i = whole();
    const Value k = whole();
    const std::vector<Value> outputs{b.add(a, c),
                                     b.sub(a, c),
                                     b.mul(a, c),
                                     b.div(a, c),
                                     b.max(a, c),
                                     b.neg(a),
                                     b.exp(a),
                                     b.tanh(c),
                                     b.sqrt(b.mul(a, a)),
                                     b.convert(a, Element::i32),
                                     b.convert(a, Element::bf16),
                                     b.convert(b.convert(c, Element::bf16), Element::f32),
                                     b.add(i, k),
                                     b.sub(i, k),
                                     b.mul(i, k),
                                     b.max(i, k),
                                     b.bit_and(i, k),
                                     b.bit_or(i, k),
                                     b.bit_xor(i, k),
                                     b.shift_right(i, k),
                                     b.compare(Direction::lt, i, k),
                                     b.select(b.compare(Direction::ge, a, c), a, c),
                                     b.sum(a, {0}),
                                     b.maximum(a, {0}),
                                     b.pad(b.constant(0, f4), {1}, {1}),
                                     b.slice(a, {1}, {3})};
    const Graph graph = *b.finish(outputs);
    const Graph folded = simplify(graph);
    for (const Node& node : folded.nodes) {
      EXPECT_TRUE(std::holds_alternative<op::Constant>(node.op)) << name_of(node.op);
    }
    const auto expected = test::interpret(graph, {});
    const auto got = test::interpret(folded, {});
    for (std::size_t n = 0; n < expected.size(); ++n) {
      for (std::size_t e = 0; e < expected[n].size(); ++e) {
        EXPECT_FLOAT_EQ(static_cast<float>(got[n][e]), static_cast<float>(expected[n][e]))
            << "output " << n << ", round " << round;
      }
    }
  }
}

TEST(Simplify, LeavesWhatIsNotExact) {
  Builder b;
  const Value x = b.parameter("x", f4);
  const Graph graph = simplify(*b.finish(std::vector{b.scale(x, 0)}));
  EXPECT_EQ(graph.nodes.size(), 3U);  // x may be infinite
}

TEST(Simplify, KeepsResultsOfARandomGraph) {
  test::Draw draw(20);
  Builder b;
  std::vector<Value> values{b.parameter("x", f4), b.parameter("y", f4)};
  for (int i = 0; i < 60; ++i) {
    const auto pick = [&] {
      return values[static_cast<std::size_t>(
          draw.size(0, static_cast<std::int64_t>(values.size()) - 1))];
    };
    const Value a = pick();
    const Value c = pick();
    values.push_back(draw.size(0, 1) == 0 ? b.scale(b.add(a, c), 0.5) : b.max(a, c));
  }
  const Graph graph = *b.finish(std::vector{values[50], values[61]});
  const Graph small = simplify(graph);
  EXPECT_LT(small.nodes.size(), graph.nodes.size());
  const std::vector<test::Numbers> inputs{draw.numbers({4}, -1, 1), draw.numbers({4}, -1, 1)};
  EXPECT_EQ(test::interpret(graph, inputs), test::interpret(small, inputs));
}

// Cutting a forward and its gradient apart gives the same gradient, whatever is kept.
TEST(JoinPads, GradientsOfSlicesBecomeOneConcatenation) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {2, 9}});
  const auto part = [&](std::int64_t from, std::int64_t to) {
    return b.exp(b.slice(x, {0, from}, {2, to}));
  };
  const Value sum =
      b.add(b.add(b.sum(part(0, 2), {0, 1}), b.sum(part(2, 5), {0, 1})), b.sum(part(5, 8), {0, 1}));
  const std::vector<Value> gradient = differentiate(b, sum, std::vector{x});
  const Graph graph = simplify(*b.finish(gradient));
  const Graph joined = simplify(join_pads(graph));
  const auto count = [&](std::string_view name) {
    return std::count_if(joined.nodes.begin(), joined.nodes.end(),
                         [&](const Node& node) { return name_of(node.op) == name; });
  };
  EXPECT_EQ(count("concatenate"), 1) << print(joined);
  EXPECT_EQ(count("pad"), 1) << "the last column has no part";
  EXPECT_EQ(count("add"), 0);
  test::Draw draw(5);
  test::Numbers numbers(18);
  for (double& number : numbers) number = draw.number(-1, 1);
  EXPECT_EQ(test::interpret(joined, {numbers}), test::interpret(graph, {numbers}));
}

TEST(JoinPads, LeavesWhatOverlapsOrLiesApart) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {3}});
  const Value overlapping = b.add(b.pad(x, {0}, {2}), b.pad(x, {2}, {0}));
  const Value apart = b.add(b.pad(x, {0}, {4}), b.pad(x, {4}, {0}));
  const Graph graph = *b.finish(std::vector{overlapping, apart});
  EXPECT_EQ(print(join_pads(graph)), print(graph));
}

TEST(Extract, ForwardAndBackwardHalvesEqualTheWhole) {
  test::Draw draw(21);
  for (const bool keep_products : {false, true}) {
    Builder b;
    const Type square{Element::f32, {4, 4}};
    const Value x = b.parameter("x", square);
    const Value w = b.parameter("w", square);
    const Value y = b.exp(b.dot(b.exp(b.dot(x, w, {{}, {}, {1}, {0}})), w, {{}, {}, {1}, {1}}));
    const std::size_t forward_nodes = b.graph().nodes.size();
    const Value dy = b.parameter("dy", square);
    const std::vector<Value> wrt{x, w};
    const std::vector<Value> gradients = differentiate(b, std::span(&y, 1), std::span(&dy, 1), wrt);
    const Graph joint = *b.finish(gradients);
    const std::vector<Value> kept =
        values_to_keep(joint, gradients, forward_nodes, [&](const Node& node) {
          return keep_products && std::holds_alternative<op::Unary>(node.op);
        });
    EXPECT_EQ(kept.size(), keep_products ? 2U : 0U);
    std::vector<Value> cut = wrt;
    cut.insert(cut.end(), kept.begin(), kept.end());
    const Graph forward = extract(joint, wrt, kept);
    cut.push_back(dy);
    const Graph backward = extract(joint, cut, gradients);
    if (keep_products) {
      EXPECT_LT(backward.nodes.size(), joint.nodes.size());
    }

    std::vector<test::Numbers> inputs{draw.numbers({4, 4}, -1, 1), draw.numbers({4, 4}, -1, 1),
                                      draw.numbers({4, 4}, -1, 1)};
    const std::vector<test::Numbers> whole = test::interpret(joint, inputs);
    const test::Numbers cotangent = inputs.back();
    inputs.pop_back();
    const std::vector<test::Numbers> between = test::interpret(forward, inputs);
    inputs.insert(inputs.end(), between.begin(), between.end());
    inputs.push_back(cotangent);
    EXPECT_EQ(test::interpret(backward, inputs), whole);
  }
}

TEST(Extract, RefusesToInventAnInput) {
  Builder b;
  const Value x = b.parameter("x", f4);
  const Value y = b.add(x, b.parameter("y", f4));
  EXPECT_TRUE(extract(*b.finish(std::vector{y}), std::vector{x}, std::vector{y}).outputs.empty());
}

}  // namespace
}  // namespace trainward::graph
