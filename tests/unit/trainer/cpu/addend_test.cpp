// What is added to a product: by the product itself, in one pass, and as if it were added after it.
#include <gtest/gtest.h>

#include "cpu/harness.hpp"
#include "trainer/graph/builder.hpp"

namespace trainward::cpu {
namespace {

using graph::Builder;
using graph::Element;
using graph::Graph;
using graph::Value;
using graph::test::Draw;
using graph::test::Numbers;

Value multiply(Builder& b, Value x, Value weight) { return b.dot(x, weight, {{}, {}, {2}, {0}}); }

struct Case {
  Graph graph;
  std::vector<Numbers> inputs;
};

// `make` builds the outputs from x [2, 5, 7], w [7, 6], a narrow pair that gives as much, a row of
// 6 and a residual like the products.
template <typename Make>
Case make_case(const Make& make) {
  constexpr std::uint64_t seed = 17;
  Builder b;
  const std::vector<Value> values{b.parameter("x", {Element::f32, {2, 5, 7}}),
                                  b.parameter("w", {Element::f32, {7, 6}}),
                                  b.parameter("low", {Element::f32, {2, 5, 3}}),
                                  b.parameter("high", {Element::f32, {3, 6}}),
                                  b.parameter("row", {Element::f32, {6}}),
                                  b.parameter("residual", {Element::f32, {2, 5, 6}})};
  const std::vector<Value> outputs = make(b, values);
  Case made{*b.finish(outputs), {}};
  Draw draw(seed);
  for (const Value parameter : made.graph.parameters) {
    Numbers numbers(
        static_cast<std::size_t>(graph::element_count(made.graph.type(parameter).shape)));
    for (double& number : numbers) number = draw.number(-1, 1);
    made.inputs.push_back(std::move(numbers));
  }
  return made;
}

void expect_the_same(const Case& made, std::size_t first_sum) {
  const std::vector<Numbers> expected = graph::test::interpret(made.graph, made.inputs);
  for (const int threads : {1, 2}) {
    const auto words = test::execute(made.graph, threads, made.inputs, first_sum);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const Numbers got = test::numbers_of(words[k], Element::f32);
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], expected[k][i] + (k < first_sum ? 0 : 1), 1e-5) << "output " << k;
      }
    }
  }
}

std::size_t kernels_of(const Case& made) {
  auto runtime = Runtime::create(1);
  return Program::compile(made.graph, **runtime)->kernel_count();
}

Value with_row(Builder& b, Value x, Value row) {
  return b.add(x, b.broadcast(row, {2}, b.type(x).shape));
}

TEST(Addend, ProductsAddTheirBiasAndEachOther) {
  const Case made = make_case([](Builder& b, const std::vector<Value>& v) {
    const Value base = with_row(b, multiply(b, v[0], v[1]), v[4]);
    return std::vector{b.add(base, multiply(b, v[2], v[3]))};
  });
  EXPECT_EQ(kernels_of(made), 2U);
  expect_the_same(made, SIZE_MAX);
  expect_the_same(made, 0);
}

TEST(Addend, TheOrderOfTheSumIsFree) {
  const Case made = make_case([](Builder& b, const std::vector<Value>& v) {
    const Value first = multiply(b, v[0], v[1]);
    const Value second = multiply(b, v[2], v[3]);
    const Value row = b.broadcast(v[4], {2}, b.type(first).shape);
    return std::vector{b.add(b.add(row, second), first), b.exp(b.add(v[5], first))};
  });
  expect_the_same(made, SIZE_MAX);
  expect_the_same(made, 1);
}

// A product that others read as well is not what the sum is.
TEST(Addend, WhatOthersReadStaysAsItIs) {
  const Case made = make_case([](Builder& b, const std::vector<Value>& v) {
    const Value base = multiply(b, v[0], v[1]);
    const Value sum = b.add(base, multiply(b, v[2], v[3]));
    return std::vector{sum, b.mul(base, v[5]), with_row(b, base, v[4]), b.mul(sum, sum)};
  });
  expect_the_same(made, SIZE_MAX);
  expect_the_same(made, 0);
}

// Only a whole row of a parameter is a bias: a column, a part of a row and a residual are not.
TEST(Addend, WhatIsNoRowIsAddedAfterwards) {
  const Case made = make_case([](Builder& b, const std::vector<Value>& v) {
    const graph::Shape shape{2, 5, 6};
    const Value column = b.reshape(b.slice(v[2], {0, 0, 0}, {1, 5, 1}), {5});
    const Value computed = b.exp(v[4]);
    const auto product = [&](double factor) { return multiply(b, b.scale(v[0], factor), v[1]); };
    return std::vector{b.add(product(1), b.broadcast(column, {1}, shape)),
                       b.add(product(2), b.broadcast(computed, {2}, shape)),
                       b.add(product(3), v[5])};
  });
  expect_the_same(made, SIZE_MAX);
  expect_the_same(made, 0);
}

}  // namespace
}  // namespace trainward::cpu
