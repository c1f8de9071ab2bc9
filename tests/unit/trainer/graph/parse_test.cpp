// print() and parse() are each other's inverse; anything else is refused with its line.
#include "graph/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "graph/print.hpp"
#include "graph/reference.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/differentiate.hpp"

namespace trainward::graph {
namespace {

using ::testing::HasSubstr;

// One of every operation, and their gradients.
Graph everything() {
  Builder b;
  const Type type{Element::f32, {4, 6}};
  const Value x = b.parameter("x", type);
  const Value y = b.parameter("layer.0.y", type);
  const Value ids = b.parameter("ids", {Element::i32, {3}});
  Value v = b.add(b.neg(x), b.mul(b.exp(y), b.tanh(x)));
  v = b.sub(b.div(v, b.sqrt(b.exp(y))), b.rsqrt(b.exp(x)));
  v = b.max(v, b.log(b.exp(x)));
  v = b.select(b.compare(Direction::le, v, y), v, b.hold(b.scale(y, 0.1)));
  const Value rows = b.gather_rows(v, ids);
  v = b.add(v, b.scatter_add_rows(ids, rows, 4));
  v = b.add(v, b.broadcast(b.maximum(v, {0}), {1}, {4, 6}));
  v = b.concatenate({b.slice(v, {0, 1}, {4, 5}), b.pad(v, {0, 1}, {0, 2})}, 1);
  const Value square = b.dot(v, b.transpose(v, {1, 0}), {{}, {}, {1}, {0}});
  const Value counted = b.mul(b.iota({Element::i32, {3}}, 0), ids);
  const Value hash = b.bit_xor(b.shift_right(counted, ids), b.bit_or(b.bit_and(ids, ids), ids));
  const Value loss =
      b.add(b.sum(b.reshape(square, {16}), {0}), b.sum(b.convert(hash, Element::f32), {0}));
  std::vector<Value> outputs = differentiate(b, loss, std::vector{x, y});
  outputs.push_back(loss);
  outputs.push_back(b.constant(-std::numeric_limits<double>::infinity(), type));
  outputs.push_back(b.constant(-1, {Element::i32, {}}));
  const Value half = b.convert(x, Element::bf16);
  outputs.push_back(half);
  outputs.push_back(b.append(op::DotGeneral{{0}, {0}, {1}, {1}, Precision::bf16}, {half, half}));
  outputs.push_back(b.append(op::DotGeneral{{}, {}, {1}, {1}, Precision::bf16}, {x, y}));
  outputs.push_back(b.all_reduce(outputs[0], {2, 4}));
  auto graph = b.finish(outputs);
  EXPECT_TRUE(graph) << graph.error().message();
  return *graph;
}

std::string refusal(std::string_view text) {
  auto graph = parse(text, "graph.txt");
  if (graph) return "was read";
  EXPECT_EQ(graph.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(graph.error().where, "graph.txt");
  return graph.error().what;
}

TEST(Parse, ReadsBackWhatWasPrinted) {
  const Graph graph = everything();
  const std::string text = print(graph);
  auto again = parse(text, "graph.txt");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(print(*again), text);
  EXPECT_EQ(again->parameters, graph.parameters);
  EXPECT_EQ(again->outputs, graph.outputs);
}

TEST(Parse, SaysWhichLineIsWrongAndWhy) {
  const std::string x = "%0 = parameter name=x : f32[2,3]\n";
  EXPECT_THAT(refusal(""), HasSubstr("line 0 ends before the line that returns"));
  EXPECT_THAT(refusal(x), HasSubstr("ends before the line that returns"));
  EXPECT_THAT(refusal(x + "return %0"), HasSubstr("line 2 does not end with a line end"));
  EXPECT_THAT(refusal(x + "return %00\n"), HasSubstr("line 2 is no list of values"));
  EXPECT_THAT(refusal(x + "return %1\n"), HasSubstr("an output of the graph is not a value"));
  EXPECT_THAT(refusal(x + "return %0\n" + x), HasSubstr("line 3 something follows"));
  EXPECT_THAT(refusal(x + "%1 = add %0, %7 : f32[2,3]\n"),
              HasSubstr("add: an operand is not a value"));
  EXPECT_THAT(refusal(x + "%1 = add %0, %0 : f32[3,2]\n"),
              HasSubstr("line 2 is not '%1 = add %0, %0 : f32[2,3]'"));
  EXPECT_THAT(refusal(x + "%9 = negate %0 : f32[2,3]\n"), HasSubstr("is not '%1 = negate"));
  EXPECT_THAT(refusal(x + "%1 = frobnicate %0 : f32[2,3]\n"), HasSubstr("is no node"));
  EXPECT_THAT(refusal(x + "%1 = transpose %0 permutation=[0] : f32[2,3]\n"),
              HasSubstr("must name every axis once"));
  EXPECT_THAT(refusal("%0 = parameter name=a/b : f32[2]\n"), HasSubstr("letters"));
  EXPECT_THAT(refusal("%0 = parameter name=x : f32[0]\n"), HasSubstr("empty axis"));
  EXPECT_THAT(refusal("%0 = parameter name=x : f32[9223372036854775807,9]\n"),
              HasSubstr("too large"));
  EXPECT_THAT(refusal("%0 = constant value=0.5 bits=0x1p-2 : f32[]\n"), HasSubstr("is not '"));
}

// Cut anywhere or with any byte changed, the text is refused or is another graph's text.
TEST(Parse, DamageNeverReadsAsTheSameGraph) {
  const std::string text = print(everything());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse(std::string_view(text).substr(0, size), "cut")) << size;
  }
  test::Draw draw(5);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    const auto at =
        static_cast<std::size_t>(draw.size(0, static_cast<std::int64_t>(text.size()) - 1));
    damaged[at] = static_cast<char>(draw.size(0, 255));
    const auto graph = parse(damaged, "damaged");
    if (graph) {
      EXPECT_EQ(print(*graph), damaged);
    }
  }
}

}  // namespace
}  // namespace trainward::graph
