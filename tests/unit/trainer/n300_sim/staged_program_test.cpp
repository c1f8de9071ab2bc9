// Sums over devices: cut into stages and run, against the reference interpreter step by step.
#include "trainer/n300_sim/staged_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "graph/print.hpp"
#include "graph/reference.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/graph/builder.hpp"

namespace trainward::n300 {
namespace {

using graph::Builder;
using graph::Element;
using graph::Shape;
using graph::Type;
using graph::Value;
using graph::test::Draw;
using Floats = std::vector<float>;

// Results per device and output. Everything is f32; memory starts as NaN.
std::vector<std::vector<Floats>> run(const graph::Graph& graph,
                                     const std::vector<std::vector<Floats>>& arguments) {
  auto runtime = cpu::Runtime::create(2).value();
  auto program = StagedProgram::compile(graph, *runtime);
  EXPECT_TRUE(program) << program.error().message();
  auto workspace = cpu::Memory::allocate(program->workspace_bytes()).value();
  std::vector<cpu::Memory> temporaries;
  std::vector<std::vector<Floats>> results;
  std::vector<Lane> lanes;
  for (const auto& of_device : arguments) {
    Lane lane;
    for (const Floats& argument : of_device) lane.parameters.push_back(argument.data());
    auto& outputs = results.emplace_back();
    for (const Value output : graph.outputs) {
      outputs.emplace_back(static_cast<std::size_t>(graph::element_count(graph.type(output).shape)),
                           std::nanf(""));
    }
    for (Floats& output : outputs) lane.outputs.push_back(output.data());
    auto& own = temporaries.emplace_back(cpu::Memory::allocate(program->temporary_bytes()).value());
    if (own.size() > 0) std::memset(own.data(), 0xff, own.size());
    lane.temporaries = own.data();
    lanes.push_back(std::move(lane));
  }
  program->run(lanes, workspace.data());
  return results;
}

// Each sum over devices interpreted after the values before it: f32 sums of whole numbers, exact.
std::vector<std::vector<Floats>> expected(const graph::Graph& graph,
                                          const std::vector<std::vector<Floats>>& arguments) {
  const std::size_t devices = arguments.size();
  std::vector<std::map<std::int32_t, graph::test::Numbers>> sums(devices);
  const auto value_of = [&](std::size_t device, Value value) {
    // The graph with every sum so far as one more parameter.
    graph::Graph open = graph;
    std::vector<graph::test::Numbers> numbers;
    for (const Floats& argument : arguments[device]) {
      numbers.emplace_back(argument.begin(), argument.end());
    }
    // Parameters come first in these graphs.
    const std::size_t end = std::max(value.index() + 1, graph.parameters.size());
    for (const auto& [id, known] : sums[device]) {
      if (static_cast<std::size_t>(id) >= end) continue;
      auto& node = open.nodes[static_cast<std::size_t>(id)];
      node.op = graph::op::Parameter{"sum", node.type};
      node.inputs.clear();
      open.parameters.push_back(Value{id});
      numbers.push_back(known);
    }
    open.nodes.resize(end);
    open.outputs = {value};
    return graph::test::interpret(open, numbers)[0];
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!std::holds_alternative<graph::op::AllReduce>(graph.nodes[i].op)) continue;
    graph::test::Numbers total;
    for (std::size_t d = 0; d < devices; ++d) {
      const auto part = value_of(d, graph.nodes[i].inputs[0]);
      total.resize(part.size(), 0);
      for (std::size_t k = 0; k < part.size(); ++k) total[k] += part[k];
    }
    for (auto& known : sums) known[static_cast<std::int32_t>(i)] = total;
  }
  std::vector<std::vector<Floats>> results(devices);
  for (std::size_t d = 0; d < devices; ++d) {
    for (const Value output : graph.outputs) {
      const auto numbers = value_of(d, output);
      results[d].emplace_back(numbers.begin(), numbers.end());
    }
  }
  return results;
}

std::vector<std::vector<Floats>> whole_numbers(const graph::Graph& graph, std::size_t devices,
                                               Draw& draw) {
  std::vector<std::vector<Floats>> arguments(devices);
  for (auto& of_device : arguments) {
    for (const Value parameter : graph.parameters) {
      const auto numbers = draw.ids(graph.type(parameter).shape, 5);
      of_device.emplace_back(numbers.begin(), numbers.end());
    }
  }
  return arguments;
}

TEST(StagedProgram, AGradientIsSummedInItsOwnOutput) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {64}});
  const Value gradient = b.mul(x, x);
  const Value sum = b.append(graph::op::AllReduce{2}, {gradient});
  const std::vector<Value> outputs = {sum};
  const graph::Graph graph = b.finish(outputs).value();
  const StagePlan plan = plan_stages(graph);
  EXPECT_TRUE(plan.temporaries.empty());
  ASSERT_EQ(plan.stages.size(), 2U);
  EXPECT_EQ(plan.stages[0].sums[0].from, (Place{Place::Home::output, 0}));
  EXPECT_TRUE(plan.stages[1].outputs.empty());
}

TEST(StagedProgram, ViewsAndConstantsAreNotKept) {
  Builder b;
  const Value x = b.parameter("x", {Element::f32, {8}});
  const Value wide = b.broadcast(b.mul(x, x), {1}, {100, 8});
  const Value sum = b.append(graph::op::AllReduce{2}, {x});
  const Value ones = b.constant(1, {Element::f32, {100, 8}});
  const std::vector<Value> outputs = {
      b.add(b.add(wide, b.broadcast(sum, {1}, {100, 8})), b.add(ones, ones))};
  const StagePlan plan = plan_stages(b.finish(outputs).value());
  EXPECT_EQ(plan.temporaries, (std::vector<std::int64_t>{8, 8})) << "x*x and the sum";
}

// Random graphs of element-wise operations, views, reductions and sums over devices.
graph::Graph random_graph(Draw& draw) {
  Builder b;
  const Shape shape = {draw.size(1, 3), draw.size(1, 5)};
  const Type type{Element::f32, shape};
  std::vector<Value> values;
  for (std::int64_t k = draw.size(1, 3); k > 0; --k) values.push_back(b.parameter("p", type));
  const auto any = [&] {
    return values[static_cast<std::size_t>(
        draw.size(0, static_cast<std::int64_t>(values.size()) - 1))];
  };
  for (std::int64_t k = draw.size(1, 14); k > 0; --k) {
    Value value;
    switch (draw.size(0, 6)) {
      case 0:
      case 1:
        value = b.append(graph::op::AllReduce{2}, {any()});
        break;
      case 2:
        value = b.constant(static_cast<double>(draw.size(1, 3)), type);
        break;
      case 3:
        value = b.broadcast(b.sum(any(), {0}), {1}, shape);
        break;
      case 4:
        value = b.transpose(b.transpose(any(), {1, 0}), {1, 0});
        break;
      default:
        value = b.add(any(), any());
    }
    values.push_back(value);
  }
  std::vector<Value> outputs;
  for (std::int64_t k = draw.size(1, 5); k > 0; --k) outputs.push_back(any());
  return b.finish(outputs).value();
}

TEST(StagedProgram, RandomGraphsGiveWhatTheInterpreterGives) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const graph::Graph graph = random_graph(draw);
    const auto arguments = whole_numbers(graph, 2, draw);
    ASSERT_EQ(run(graph, arguments), expected(graph, arguments)) << graph::print(graph);
  }
}

TEST(StagedProgram, OneDeviceAloneSumsNothing) {
  Draw draw(3);
  const graph::Graph graph = random_graph(draw);
  const auto arguments = whole_numbers(graph, 1, draw);
  EXPECT_EQ(run(graph, arguments), expected(graph, arguments));
}

}  // namespace
}  // namespace trainward::n300
