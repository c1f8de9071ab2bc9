// The text is StableHLO as openxla/stablehlo's printer spells it.
#include "trainer/stablehlo/text/print.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/graph/builder.hpp"
#include "trainer/stablehlo/text/parse_text.hpp"

namespace trainward::stablehlo {
namespace {

namespace op = graph::op;
using graph::Builder;
using graph::Direction;
using graph::Element;
using graph::Graph;
using graph::Value;
using ::testing::HasSubstr;

Graph graph_of(const Builder& b, const std::vector<Value>& outputs) {
  auto graph = b.finish(outputs);
  EXPECT_TRUE(graph) << graph.error().message();
  return graph ? *std::move(graph) : Graph{};
}

std::string text_of(const Module& module) {
  auto text = print(module);
  EXPECT_TRUE(text) << text.error().message();
  return text.value_or("");
}

std::string refusal(const Module& module) {
  const auto text = print(module);
  return text ? "was printed" : text.error().what;
}

TEST(Print, WritesAModule) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {2, 3}});
  const Value w = b.parameter("w", {Element::f32, {3, 4}});
  const Value y = b.dot(x, w, {{}, {}, {1}, {0}});
  const Value sum = b.sum(b.scale(y, 0.5), {0});
  EXPECT_EQ(
      text_of({"step_1", 1, graph_of(b, {sum, b.neg(x)}), {std::nullopt, 0}}),
      R"(module @step_1 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<3x4xf32>) -> (tensor<4xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.constant dense<0.5> : tensor<2x4xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<2x4xf32>
    %3 = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.reduce(%2 init: %3) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.negate %arg0 : tensor<2x3xf32>
    return %4, %5 : tensor<4xf32>, tensor<2x3xf32>
  }
}
)");
}

TEST(Print, AttentionIsOneCallForAllThatIsTakenOfIt) {
  using graph::AttentionResult;
  Builder b;
  const graph::Type type{Element::bf16, {2, 64, 3, 8}};
  std::vector<Value> in;
  for (const char* name : {"q", "k", "v", "d"}) in.push_back(b.parameter(name, type));
  const std::vector<Value> qkv(in.begin(), in.begin() + 3);
  const Value y = b.append(op::Attention{0.25}, qkv);
  const Value statistics = b.append(op::Attention{0.25, AttentionResult::statistics}, qkv);
  std::vector<Value> outputs{y, statistics};
  for (const int k : {0, 1, 2}) {
    outputs.push_back(
        b.append(op::AttentionGradient{0.25, k}, {in[0], in[1], in[2], statistics, y, in[3]}));
  }
  const std::string text = text_of({"attend", 1, graph_of(b, outputs), {}});
  const auto occurrences = [&](std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(occurrences("custom_call"), 2U) << text;
  for (const char* part : {
           "%0:3 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%arg0, %arg1, %arg2) {api_version = "
           "2 : i32, backend_config = \"{\\22operation_queue_id\\22:",
           "\\22fmha_scale\\22:2.5E-1,",
           "\\22dimensions\\22:[\\222\\22,\\223\\22,\\2264\\22,\\2264\\22]",
           "-> (tensor<2x3x64x8xbf16>, tensor<2x3x64xf32>, tensor<0xui8>)\n",
           "%1 = stablehlo.transpose %0#0, dims = [0, 2, 1, 3] : (tensor<2x3x64x8xbf16>) -> "
           "tensor<2x64x3x8xbf16>\n",
           "%2:4 = stablehlo.custom_call @__cudnn$fmhaSoftmaxBackward(%arg0, %arg1, %arg2, %0#1, "
           "%arg3, %1) {",
           "%4 = stablehlo.transpose %2#1, ",
           "return %1, %0#1, %3, %4, %5 : ",
       }) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

// Scores are as many as queries have heads; what is shared keeps its own.
TEST(Print, KeysAndValuesOfFewerHeads) {
  Builder b;
  const graph::Type queries{Element::bf16, {2, 64, 6, 8}};
  const graph::Type keys{Element::bf16, {2, 64, 2, 8}};
  const Value q = b.parameter("q", queries);
  const Value k = b.parameter("k", keys);
  const Value v = b.parameter("v", keys);
  const Value d = b.parameter("d", queries);
  const Value y = b.append(op::Attention{0.25}, {q, k, v});
  const Value statistics =
      b.append(op::Attention{0.25, graph::AttentionResult::statistics}, {q, k, v});
  std::vector<Value> outputs{y};
  for (const int i : {0, 1, 2}) {
    outputs.push_back(b.append(op::AttentionGradient{0.25, i}, {q, k, v, statistics, y, d}));
  }
  const std::string text = text_of({"attend", 1, graph_of(b, outputs), {}});
  for (const char* part : {
           "\\22dimensions\\22:[\\222\\22,\\226\\22,\\2264\\22,\\2264\\22]",
           "(tensor<2x64x6x8xbf16>, tensor<2x64x2x8xbf16>, tensor<2x64x2x8xbf16>) -> "
           "(tensor<2x6x64x8xbf16>, tensor<2x6x64xf32>, tensor<0xui8>)\n",
           "tensor<2x64x2x8xbf16>, tensor<2x6x64xf32>, tensor<2x64x6x8xbf16>, "
           "tensor<2x64x6x8xbf16>) -> (tensor<2x6x64x8xbf16>, tensor<2x2x64x8xbf16>, "
           "tensor<2x2x64x8xbf16>, tensor<0xui8>)\n",
           "dims = [0, 2, 1, 3] : (tensor<2x2x64x8xbf16>) -> tensor<2x64x2x8xbf16>\n",
       }) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Print, SpellsEveryOperation) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {2, 3}});
  const Value i = b.parameter("i", {Element::i32, {2, 3}});
  const Value p = b.compare(Direction::le, x, x);
  const Value half = b.convert(x, Element::bf16);
  std::vector<Value> all{
      b.shift_right(i, b.constant_like(5, i)),
      b.bit_and(i, i),
      b.compare(Direction::gt, i, i),
      b.compare(Direction::eq, p, p),
      b.select(p, x, x),
      b.iota({Element::i32, {4, 2}}, 1),
      b.maximum(x, {1}),
      b.broadcast(x, {1, 2}, {4, 2, 3}),
      b.reshape(x, {6}),
      b.transpose(x, {1, 0}),
      b.slice(x, {0, 1}, {2, 3}),
      b.pad(x, {0, 1}, {2, 0}),
      b.concatenate({x, x}, 1),
      b.append(op::DotGeneral{{0}, {0}, {1}, {1}, graph::Precision::bf16}, {half, half}),
      b.gather_rows(x, i),
      b.append(op::AllReduce{2}, {x}),
      b.constant(1, {Element::pred, {2}}),
  };
  const std::string text = text_of({"all", 2, graph_of(b, all), {}});
  for (const char* line : {
           "stablehlo.compare LE, %arg0, %arg0, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
           "tensor<2x3xi1>\n",
           "stablehlo.convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xbf16>\n",
           "%2 = stablehlo.constant dense<5> : tensor<2x3xi32>\n",
           "%3 = stablehlo.shift_right_logical %arg1, %2 : tensor<2x3xi32>\n",
           "stablehlo.and %arg1, %arg1 : tensor<2x3xi32>\n",
           "stablehlo.compare GT, %arg1, %arg1, SIGNED : (tensor<2x3xi32>, tensor<2x3xi32>) -> ",
           "stablehlo.compare EQ, %0, %0, UNSIGNED : (tensor<2x3xi1>, tensor<2x3xi1>) -> ",
           "stablehlo.select %0, %arg0, %arg0 : tensor<2x3xi1>, tensor<2x3xf32>\n",
           "stablehlo.iota dim = 1 : tensor<4x2xi32>\n",
           "stablehlo.constant dense<0xFF800000> : tensor<f32>\n",
           "applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> "
           "tensor<2xf32>\n",
           "stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<2x3xf32>) -> "
           "tensor<4x2x3xf32>\n",
           "stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<6xf32>\n",
           "stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n",
           "stablehlo.slice %arg0 [0:2, 1:3] : (tensor<2x3xf32>) -> tensor<2x2xf32>\n",
           ", low = [0, 1], high = [2, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> "
           "tensor<4x4xf32>\n",
           "stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> "
           "tensor<2x6xf32>\n",
           "stablehlo.dot_general %1, %1, batching_dims = [0] x [0], contracting_dims = [1] x [1] "
           ": (tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2xf32>\n",
           "\"stablehlo.gather\"(%arg0, %arg1) <{dimension_numbers = "
           "#stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = "
           "[0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, "
           "3>}> : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3x3xf32>\n",
           "\"stablehlo.all_reduce\"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> "
           "({\n    ^bb0(%lhs: tensor<f32>, %rhs: tensor<f32>):\n"
           "      %sum = stablehlo.add %lhs, %rhs : tensor<f32>\n"
           "      stablehlo.return %sum : tensor<f32>\n"
           "    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n",
           "stablehlo.constant dense<true> : tensor<2xi1>\n",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// Of a mesh of two rows and three columns: within the rows, and within the columns.
TEST(Print, SumsOverGroupsOfDevicesAreReadBack) {
  for (const auto& [sum, groups] :
       {std::pair(op::AllReduce{3}, "dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>"),
        {op::AllReduce{2, 3}, "dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>"},
        {op::AllReduce{1}, "dense<[[0], [1], [2], [3], [4], [5]]> : tensor<6x1xi64>"}}) {
    Builder b;
    const Value x = b.parameter("x", {Element::f32, {2}});
    const auto text = print({"m", 6, graph_of(b, {b.all_reduce(x, sum)}), {}});
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_THAT(*text, HasSubstr(groups));
    const auto again = parse(*text, "m");
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(std::get<op::AllReduce>(again->graph.nodes[1].op), sum);
  }
}

TEST(Print, SaysWhatItCannotExpress) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {3, 3}});
  const Value i = b.parameter("i", {Element::i32, {3}});
  const auto of = [&](Value value) { return refusal({"m", 2, graph_of(b, {value}), {}}); };
  const Value short_count = b.bit_and(i, b.constant_like(31, i));
  EXPECT_EQ(of(b.shift_right(i, short_count)), "was printed");
  const auto scatter = print({"m", 1, graph_of(b, {b.scatter_add_rows(i, x, 3)}), {}});
  ASSERT_TRUE(scatter);
  EXPECT_THAT(*scatter, HasSubstr("scatter<update_window_dims = [1], inserted_window_dims = [0], "
                                  "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"));
  EXPECT_THAT(*scatter, HasSubstr("}) : (tensor<3x3xf32>, tensor<3xi32>, tensor<3x3xf32>) -> "
                                  "tensor<3x3xf32>"));

  Builder c;
  const Value y = c.parameter("y", {Element::f32, {3, 3}});
  const Value k = c.parameter("k", {Element::i32, {3}});
  const auto alone = [&](graph::Op op, std::vector<Value> inputs) {
    Builder fresh;
    fresh.parameter("y", {Element::f32, {3, 3}});
    fresh.parameter("k", {Element::i32, {3}});
    const Value value = fresh.append(std::move(op), std::move(inputs));
    return refusal({"m", 2, graph_of(fresh, {value}), {}});
  };
  EXPECT_THAT(alone(op::Binary{graph::BinaryKind::shift_right_logical}, {k, k}),
              HasSubstr("a count may be 32 or more (node %2)"));
  EXPECT_THAT(alone(op::DotGeneral{{}, {}, {1}, {1}, graph::Precision::bf16}, {y, y}),
              HasSubstr("rounds its operands"));
  EXPECT_THAT(alone(op::AllReduce{3}, {y}), HasSubstr("over 3 devices in a program of 2 replicas"));
  EXPECT_THAT(alone(op::Iota{0, {Element::pred, {2}}}, {}), HasSubstr("counts in numbers"));
}

TEST(Print, KeepsTheRulesOfModules) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {3}});
  const Graph graph = graph_of(b, {b.neg(x), b.exp(x), b.sum(x, {0})});
  EXPECT_THAT(refusal({"", 1, graph, {}}), HasSubstr("'' is no name"));
  EXPECT_THAT(refusal({"Block", 1, graph, {}}), HasSubstr("'Block' is no name"));
  EXPECT_THAT(refusal({"b", 0, graph, {}}), HasSubstr("one device or more"));
  EXPECT_THAT(refusal({"b", 1, graph, {0}}), HasSubstr("for each output"));
  EXPECT_THAT(refusal({"b", 1, graph, {0, 0, {}}}), HasSubstr("output 1 cannot reuse parameter 0"));
  EXPECT_THAT(refusal({"b", 1, graph, {{}, {}, 0}}), HasSubstr("output 2 cannot reuse"));
  EXPECT_THAT(refusal({"b", 1, graph, {{}, 7, {}}}), HasSubstr("cannot reuse parameter 7"));
}

}  // namespace
}  // namespace trainward::stablehlo
