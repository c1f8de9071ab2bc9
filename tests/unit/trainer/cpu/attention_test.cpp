// Attention as one operation on the executor: against the interpreter, which follows its formula in
// double precision, in all forms of its inputs.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

#include "cpu/harness.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/differentiate.hpp"

namespace trainward::cpu {
namespace {

using graph::AttentionResult;
using graph::Builder;
using graph::Element;
using graph::Graph;
using graph::Shape;
using graph::Value;
using graph::test::Draw;
using graph::test::Numbers;

struct Form {
  const char* name;
  std::int64_t positions, heads, groups, width, value_width;
  bool segmented = false;
};
void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

bool bf16_is_multiplied() { return (*Runtime::create(1))->multiplies_bf16(); }

// Output, gradients of q, k and v, from parts of one array as a projection makes them, so that
// strides are not those of dense operands.
Graph attention(const Form& form, Element element) {
  Builder b;
  const std::int64_t queries = form.heads * form.width;
  const std::int64_t keys = form.groups * form.width;
  const std::int64_t values = form.groups * form.value_width;
  const Value all =
      b.parameter("all", {Element::f32, {2, form.positions, queries + keys + values}});
  const auto part = [&](std::int64_t first, std::int64_t heads, std::int64_t width) {
    const Value cut = b.slice(all, {0, 0, first}, {2, form.positions, first + heads * width});
    return b.convert(b.reshape(cut, {2, form.positions, heads, width}), element);
  };
  const std::array wrt{part(0, form.heads, form.width), part(queries, form.groups, form.width),
                       part(queries + keys, form.groups, form.value_width)};
  const Value cotangent =
      b.parameter("d", {Element::f32, {2, form.positions, form.heads, form.value_width}});
  std::vector<Value> inputs(wrt.begin(), wrt.end());
  if (form.segmented) {
    inputs.push_back(b.parameter("segments", {Element::i32, {2, form.positions}}));
  }
  const Value mixed = b.append(graph::op::Attention{0.3}, inputs);
  const Value statistics = b.append(graph::op::Attention{0.3, AttentionResult::statistics}, inputs);
  const Value d = b.convert(cotangent, element);
  std::vector<Value> outputs = graph::differentiate(b, std::span(&mixed, 1), std::span(&d, 1), wrt);
  for (Value& output : outputs) output = b.convert(output, Element::f32);
  outputs.insert(outputs.begin(), {b.convert(mixed, Element::f32), statistics});
  auto graph = b.finish(outputs);
  EXPECT_TRUE(graph) << graph.error().message();
  return *std::move(graph);
}

std::vector<Numbers> numbers_for(const Graph& graph, std::int64_t positions) {
  Draw draw(23);
  std::vector<Numbers> in;
  for (const Value parameter : graph.parameters) {
    const graph::Type& type = graph.type(parameter);
    if (type.element == Element::f32) in.push_back(draw.numbers(type.shape, -2, 2));
    if (type.element != Element::i32) continue;
    // Three texts in a row, of other lengths in the second row.
    Numbers segments;
    for (std::int64_t i = 0; i < 2 * positions; ++i) {
      const std::int64_t place = i % positions;
      segments.push_back(static_cast<double>(i < positions ? 3 * place / positions
                                             : place > 1   ? 2
                                                           : 1));
    }
    in.push_back(std::move(segments));
  }
  return in;
}

class AttentionForms : public ::testing::TestWithParam<Form> {
 protected:
  static void compare(Element element, double tolerance) {
    const Graph graph = attention(GetParam(), element);
    const std::vector<Numbers> in = numbers_for(graph, GetParam().positions);
    const std::vector<Numbers> expected = graph::test::interpret(graph, in);
    const auto results = test::execute(graph, 2, in);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      double size = 0;
      for (const auto& x : expected[k]) size = std::max(size, std::abs(static_cast<double>(x)));
      const Numbers got = test::numbers_of(results[k], Element::f32);
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(static_cast<double>(got[i]), static_cast<double>(expected[k][i]),
                    tolerance * size)
            << "result " << k << ", element " << i;
      }
    }
  }
};

TEST_P(AttentionForms, AsTheFormulaSays) { compare(Element::f32, 2e-6); }

TEST_P(AttentionForms, InBf16ToItsRounding) {
  if (!bf16_is_multiplied()) GTEST_SKIP() << "no products of bf16 here";
  compare(Element::bf16, 0.02);
}

TEST_P(AttentionForms, TheSameBitsWithAnyNumberOfThreads) {
  const Graph graph = attention(GetParam(), Element::f32);
  const std::vector<Numbers> in = numbers_for(graph, GetParam().positions);
  const auto one = test::execute(graph, 1, in);
  for (const int threads : {2, 3}) EXPECT_EQ(test::execute(graph, threads, in), one);
}

// To the last bit: what comes after a position, and other texts, do not reach it.
TEST_P(AttentionForms, WhatIsNotSeenIsNotThere) {
  const Graph graph = attention(GetParam(), Element::f32);
  std::vector<Numbers> in = numbers_for(graph, GetParam().positions);
  const auto before = test::execute(graph, 1, in)[0];
  const std::size_t row = in[0].size() / 2 / static_cast<std::size_t>(GetParam().positions);
  const std::size_t last = in[0].size() / 2 - row;  // of the first sequence's last position
  for (std::size_t i = last; i < last + row; ++i) in[0][i] = 1.5;
  const auto after = test::execute(graph, 1, in)[0];
  const std::size_t out = before.size() / 2 / static_cast<std::size_t>(GetParam().positions);
  const std::size_t changed = before.size() / 2 - out;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (i >= changed && i < changed + out) continue;
    ASSERT_EQ(before[i], after[i]) << i;
  }
  EXPECT_NE(before[changed], after[changed]);
}

INSTANTIATE_TEST_SUITE_P(
    , AttentionForms,
    ::testing::Values(Form{"OnePosition", 1, 2, 2, 8, 8}, Form{"AFew", 5, 3, 3, 4, 4},
                      Form{"OneBlock", 64, 4, 2, 16, 16}, Form{"ABlockAndOne", 65, 2, 2, 8, 8},
                      Form{"ManyBlocks", 200, 6, 2, 16, 16}, Form{"OfAWiderScore", 70, 2, 1, 24, 8},
                      Form{"SeveralTexts", 70, 4, 2, 8, 8, true},
                      Form{"SeveralTextsOfAFew", 7, 2, 2, 8, 12, true}),
    [](const auto& test) { return std::string(test.param.name); });

// One pass makes several results of the same inputs, but each of its own scale, and each that is
// asked for, one that is asked for twice too.
TEST(Attentions, OfTheSameInputsAreToldApart) {
  Builder b;
  std::vector<Value> in;
  for (const char* name : {"q", "k", "v"})
    in.push_back(b.parameter(name, {Element::f32, {2, 5, 2, 4}}));
  std::vector<Value> outputs;
  for (const double scale : {0.3, 0.9, 0.3}) {
    for (const auto result : {AttentionResult::output, AttentionResult::statistics}) {
      outputs.push_back(b.append(graph::op::Attention{scale, result}, in));
    }
  }
  const Value d = b.parameter("d", {Element::f32, {2, 5, 2, 4}});
  std::vector<Value> gradients;
  for (const std::size_t k : {0U, 2U}) {
    const auto of = graph::differentiate(b, std::span(&outputs[k], 1), std::span(&d, 1), in);
    gradients.insert(gradients.end(), of.begin(), of.end());
  }
  outputs.insert(outputs.end(), gradients.begin(), gradients.end());
  auto graph = b.finish(outputs);
  ASSERT_TRUE(graph) << graph.error().message();
  const std::vector<Numbers> numbers = numbers_for(*graph, 5);
  const std::vector<Numbers> expected = graph::test::interpret(*graph, numbers);
  const auto results = test::execute(*graph, 1, numbers);
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const Numbers got = test::numbers_of(results[k], Element::f32);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(got[i]), static_cast<double>(expected[k][i]), 1e-5)
          << "result " << k << ", element " << i;
    }
  }
}

}  // namespace
}  // namespace trainward::cpu
