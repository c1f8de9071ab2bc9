// Lowered graphs compute what they computed, fill tiles, and say so in StableHLO.
#include "trainer/stablehlo/lower.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "common/base/bf16.hpp"
#include "graph/print.hpp"
#include "stablehlo/random_graph.hpp"
#include "trainer/cpu/cpu_program.hpp"
#include "trainer/graph/builder.hpp"
#include "trainer/graph/products.hpp"
#include "trainer/model/training/segments.hpp"
#include "trainer/stablehlo/text/parse_text.hpp"
#include "trainer/stablehlo/text/print.hpp"
#include "trainer/stablehlo/tiles.hpp"

namespace trainward::stablehlo {
namespace {

using graph::Builder;
using graph::Element;
using graph::Graph;
using graph::Value;
using graph::test::Draw;
using graph::test::Numbers;

// As the executor stores them.
std::vector<std::byte> stored(const Numbers& numbers, Element element) {
  std::vector<std::byte> bytes(numbers.size() * (element == Element::bf16 ? 2 : 4));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto real = static_cast<float>(numbers[i]);
    const auto whole = static_cast<std::int32_t>(numbers[i]);
    const std::uint16_t half = bf16_from_float(real);
    if (element == Element::f32) std::memcpy(&bytes[i * 4], &real, 4);
    if (element == Element::bf16) std::memcpy(&bytes[i * 2], &half, 2);
    if (element == Element::i32 || element == Element::pred) std::memcpy(&bytes[i * 4], &whole, 4);
  }
  return bytes;
}
Numbers loaded(const std::vector<std::byte>& bytes, Element element) {
  Numbers numbers(bytes.size() / (element == Element::bf16 ? 2 : 4));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    float real = 0;
    std::int32_t whole = 0;
    std::uint16_t half = 0;
    if (element == Element::f32) std::memcpy(&real, &bytes[i * 4], 4);
    if (element == Element::bf16) std::memcpy(&half, &bytes[i * 2], 2);
    if (element == Element::bf16) real = float_from_bf16(half);
    if (element == Element::i32 || element == Element::pred) std::memcpy(&whole, &bytes[i * 4], 4);
    numbers[i] = static_cast<double>(real) + whole;
  }
  return numbers;
}

std::vector<Numbers> run(const Graph& graph, const std::vector<Numbers>& parameters) {
  auto runtime = cpu::Runtime::create(1);
  EXPECT_TRUE(runtime) << runtime.error().message();
  auto program = cpu::Program::compile(graph, **runtime);
  EXPECT_TRUE(program) << program.error().message() << "\n" << graph::print(graph);
  if (!program) return {};
  std::vector<std::vector<std::byte>> in;
  std::vector<std::vector<std::byte>> out;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    in.push_back(stored(parameters[k], graph.type(graph.parameters[k]).element));
  }
  for (const Value output : graph.outputs) {
    const graph::Type& type = graph.type(output);
    out.push_back(
        stored(Numbers(static_cast<std::size_t>(graph::element_count(type.shape))), type.element));
  }
  for (const auto& bytes : in) inputs.push_back(bytes.data());
  for (auto& bytes : out) outputs.push_back(bytes.data());
  std::vector<std::byte> workspace(program->workspace_bytes() + 4096);
  program->run(inputs, outputs, workspace.data());
  std::vector<Numbers> results;
  for (std::size_t k = 0; k < out.size(); ++k) {
    results.push_back(loaded(out[k], graph.type(graph.outputs[k]).element));
  }
  return results;
}

std::vector<Numbers> random_inputs(const Graph& graph, Draw& draw) {
  std::vector<Numbers> inputs;
  for (const Value parameter : graph.parameters) {
    const graph::Type& type = graph.type(parameter);
    inputs.push_back(type.element == Element::i32 ? draw.ids(type.shape, test::id_limit)
                                                  : draw.numbers(type.shape, -1, 1));
  }
  return inputs;
}

Graph lowered(const Graph& graph) {
  auto result = lower(graph);
  EXPECT_TRUE(result) << result.error().message() << "\n" << graph::print(graph);
  return result ? *std::move(result) : Graph{};
}

template <typename Op>
std::ptrdiff_t nodes_of(const Graph& graph) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                       [](const graph::Node& node) { return std::holds_alternative<Op>(node.op); });
}

Graph finished(const Builder& b, const std::vector<Value>& outputs) {
  auto graph = b.finish(outputs);
  EXPECT_TRUE(graph) << graph.error().message();
  return graph ? *std::move(graph) : Graph{};
}

// That `low`, printed and read again, fills tiles and computes what `graph` does.
void expect_same(const Graph& graph, const Graph& low, const std::vector<Numbers>& inputs) {
  const Status tiles = check_tiles(low);
  ASSERT_TRUE(tiles) << tiles.error().message() << "\n" << graph::print(graph);
  const auto text = print({"program", 1, low, {}});
  ASSERT_TRUE(text) << text.error().message();
  const auto read = parse(*text, "text");
  ASSERT_TRUE(read) << read.error().message();
  const auto expected = run(graph, inputs);
  const auto actual = run(read->graph, inputs);
  ASSERT_EQ(expected.size(), actual.size());
  // A sum in another order can round to another bf16.
  const bool has_bf16 = graph::print(graph).find("bf16") != std::string::npos;
  const double tolerance = has_bf16 ? 1e-2 : 1e-5;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    ASSERT_EQ(expected[k].size(), actual[k].size());
    double scale = 1;
    for (const double x : expected[k]) scale = std::max(scale, std::abs(x));
    for (std::size_t i = 0; i < expected[k].size(); ++i) {
      ASSERT_NEAR(expected[k][i], actual[k][i], tolerance * scale)
          << "output " << k << " at " << i << "\n"
          << graph::print(graph) << graph::print(low);
    }
  }
}

TEST(Lower, RandomGraphsComputeTheSameInTiles) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const Graph graph = test::random_graph(draw, false);
    const Graph low = lowered(graph);
    ASSERT_EQ(low.parameters.size(), graph.parameters.size());
    ASSERT_EQ(low.outputs.size(), graph.outputs.size());
    EXPECT_EQ(graph::print(lowered(low)), graph::print(low)) << graph::print(graph);

    expect_same(graph, low, random_inputs(graph, draw));
    if (HasFailure()) return;
  }
}

// Everything a training step runs on a device: a model no size of which fits, in both precisions.
TEST(Lower, PartsOfTheModelComputeTheSameInTiles) {
  for (const auto precision : {graph::Precision::f32, graph::Precision::bf16}) {
    for (const bool recompute : {false, true}) {
      trainer::TrainingSpec spec;
      spec.model = {36, 1, 3, 10, 50, false};
      spec.batch_size = 2;
      spec.block_size = 21;
      spec.precision = precision;
      spec.recompute = recompute;
      spec.dropout = 0.1;
      spec.label_smoothing = 0.1;
      const auto segments = trainer::make_segments(spec);
      ASSERT_TRUE(segments) << segments.error().message();
      for (const Graph& part :
           {segments->embed, segments->embed_backward, segments->block_forward,
            segments->block_backward, graph::round_operands(segments->block_evaluate),
            graph::round_operands(segments->head),
            graph::round_operands(segments->head_evaluate)}) {
        Draw draw(3);
        expect_same(part, lowered(part), random_inputs(part, draw));
      }
    }
  }
}

TEST(Lower, LeavesWhatFillsTilesAlone) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {32, 64}});
  const Value w = b.parameter("w", {Element::f32, {96, 64}});
  const Value y = b.max(b.dot(x, w, {{}, {}, {1}, {1}}), b.constant(0, {Element::f32, {32, 96}}));
  const Graph graph = finished(b, {y, b.maximum(y, {1}), b.sum(y, {0})});
  EXPECT_EQ(graph::print(lowered(graph)), graph::print(lowered(lowered(graph))));
  EXPECT_EQ(lowered(graph).nodes.size(), graph.nodes.size());
}

TEST(Lower, ScatteringIsAProductWithOnes) {
  Builder b;
  const Value ids = b.parameter("ids", {Element::i32, {2, 3}});
  const Value rows = b.parameter("rows", {Element::f32, {2, 3, 4}});
  const Graph low = lowered(finished(b, {b.scatter_add_rows(ids, rows, 5)}));
  EXPECT_EQ(nodes_of<graph::op::ScatterAddRows>(low), 0);
  EXPECT_EQ(nodes_of<graph::op::DotGeneral>(low), 1);
  Numbers updates(24);
  for (std::size_t i = 0; i < updates.size(); ++i) updates[i] = static_cast<double>(i);
  // Rows 1 and 4, the first twice; 5, 31, 32 and -1 are out of range.
  const auto out = run(low, {{1, 5, 1, 31, 4, 32}, updates});
  Numbers expected(20, 0);
  for (std::size_t i = 0; i < 4; ++i) {
    expected[4 + i] = updates[i] + updates[8 + i];
    expected[16 + i] = updates[16 + i];
  }
  EXPECT_EQ(out[0], expected);
}

TEST(Lower, NothingOfRankZeroComesOrGoes) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {3, 5}});
  const Value rate = b.parameter("rate", {Element::f32, {}});
  const Value total = b.append(graph::op::AllReduce{2}, {b.sum(x, {0, 1})});
  const Graph low = lowered(finished(b, {b.mul(total, rate), rate, b.maximum(x, {0, 1})}));
  const Status tiles = check_tiles(low);
  EXPECT_TRUE(tiles) << tiles.error().message();
  for (const Value output : low.outputs) EXPECT_EQ(low.type(output).shape, graph::Shape{1});
  EXPECT_EQ(low.type(low.parameters[1]).shape, graph::Shape{1});
  EXPECT_EQ(low.outputs[1], low.parameters[1]);
}

TEST(Lower, ShiftsCountModuloThirtyTwo) {
  Builder b;
  const Value x = b.parameter("x", {Element::i32, {4}});
  const Value count = b.parameter("count", {Element::i32, {4}});
  const Graph low = lowered(finished(b, {b.shift_right(x, count)}));
  EXPECT_EQ(nodes_of<graph::op::Binary>(low), 2);
  EXPECT_EQ(run(low, {{-1, 64, 64, 7}, {28, 1, 33, 32}})[0], (Numbers{15, 32, 32, 7}));
}

TEST(Lower, RefusesProductsThatRoundTheirOperands) {
  Builder b(graph::Precision::bf16);
  const Value x = b.parameter("x", {Element::f32, {4, 4}});
  const auto low = lower(finished(b, {b.dot(x, x, {{}, {}, {1}, {0}})}));
  ASSERT_FALSE(low);
  EXPECT_THAT(low.error().what, testing::HasSubstr("rounds its operands"));
}

// Products in a chain, as attention's are: the weights are padded, the values between never.
TEST(Lower, ChainedProductsShareTheirPadding) {
  for (const bool half : {false, true}) {
    Builder b;
    const auto dot = [&](Value lhs, Value rhs, graph::op::DotGeneral dims) {
      if (half) {
        dims.precision = graph::Precision::bf16;
        lhs = b.convert(lhs, Element::bf16);
        rhs = b.convert(rhs, Element::bf16);
      }
      return b.append(dims, {lhs, rhs});
    };
    const Value q = b.parameter("q", {Element::f32, {2, 32, 4, 32}});
    const Value k = b.parameter("k", {Element::f32, {2, 32, 4, 32}});
    const Value u = b.parameter("u", {Element::f32, {32, 48}});
    const Value ranked_q = b.scale(dot(q, u, {{}, {}, {3}, {0}}), 0.5);
    const Value ranked_k = dot(k, u, {{}, {}, {3}, {0}});
    const Value scores =
        dot(ranked_q, b.transpose(ranked_k, {0, 2, 1, 3}), {{0, 2}, {0, 1}, {3}, {3}});
    const Graph low = lowered(finished(b, {scores}));
    EXPECT_EQ(nodes_of<graph::op::Pad>(low), 1) << graph::print(low);
    EXPECT_EQ(nodes_of<graph::op::Slice>(low), 0) << graph::print(low);
    for (const graph::Node& node : low.nodes) {
      if (!std::holds_alternative<graph::op::DotGeneral>(node.op)) continue;
      EXPECT_EQ(low.type(node.inputs[0]).element, half ? Element::bf16 : Element::f32);
    }
  }
}

TEST(Tiles, NameTheFirstViolation) {
  const auto violation = [](auto make) {
    Builder b;
    const Value x = b.parameter("x", {Element::f32, {64, 48}});
    const Status status = check_tiles(finished(b, {make(b, x)}));
    return status ? "none" : status.error().what;
  };
  EXPECT_EQ(violation([](Builder& b, Value x) {
              return b.dot(x, x, {{}, {}, {1}, {1}});
            }),
            "matmul inner dimension 48 is not a multiple of the tile size 32 (node %1)");
  EXPECT_EQ(violation([](Builder& b, Value x) {
              return b.dot(x, x, {{}, {}, {0}, {0}});
            }),
            "matmul row dimension 48 is not a multiple of the tile size 32 (node %1)");
  EXPECT_EQ(violation([](Builder& b, Value x) {
              return b.dot(b.slice(x, {0, 0}, {64, 32}), x, {{}, {}, {0}, {0}});
            }),
            "matmul column dimension 48 is not a multiple of the tile size 32 (node %2)");
  EXPECT_EQ(violation([](Builder& b, Value x) { return b.sum(x, {1}); }),
            "reduced dimension 48 is not a multiple of the tile size 32 (node %1)");
  EXPECT_EQ(violation([](Builder& b, Value x) { return b.sum(x, {0}); }), "none");
  EXPECT_EQ(violation([](Builder& b, Value x) {
              return b.sum(x, {0, 1});
            }),
            "reduction result is of rank 0 (node %1)");
  EXPECT_EQ(violation([](Builder& b, Value) {
              return b.constant(1, {Element::f32, {}});
            }),
            "output is of rank 0 (node %1)");
  EXPECT_EQ(violation([](Builder& b, Value) {
              return b.parameter("y", {Element::f32, {}});
            }),
            "parameter is of rank 0 (node %1)");
}

}  // namespace
}  // namespace trainward::stablehlo
