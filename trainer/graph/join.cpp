#include <optional>

#include "trainer/graph/passes.hpp"

namespace trainward::graph {
namespace {

// What a value holds along one axis, zeros before and behind it.
struct Run {
  std::size_t axis = 0;
  std::int64_t begin = 0, end = 0, size = 0;
  std::vector<Value> parts;
};

std::optional<Run> run_of(const Graph& graph, Value value) {
  const Node& node = graph.node(value);
  const auto* pad = std::get_if<op::Pad>(&node.op);
  if (pad == nullptr) return std::nullopt;
  std::optional<Run> run;
  for (std::size_t axis = 0; axis < pad->low.size(); ++axis) {
    if (pad->low[axis] == 0 && pad->high[axis] == 0) continue;
    if (run) return std::nullopt;
    const std::int64_t size = node.type.shape[axis];
    run = Run{axis, pad->low[axis], size - pad->high[axis], size, {node.inputs[0]}};
  }
  if (!run) return std::nullopt;
  const Node& inner = graph.node(node.inputs[0]);
  const auto* joined = std::get_if<op::Concatenate>(&inner.op);
  if (joined != nullptr && joined->axis == static_cast<std::int64_t>(run->axis)) {
    run->parts = inner.inputs;
  }
  return run;
}

Value add(Graph& graph, Op op, std::vector<Value> inputs, Type type) {
  graph.nodes.push_back({std::move(op), std::move(inputs), std::move(type)});
  return Value{static_cast<std::int32_t>(graph.nodes.size()) - 1};
}

// Of two runs, one of which ends where the other begins.
std::optional<Value> join(Graph& graph, Value a, Value b) {
  std::optional<Run> first = run_of(graph, a);
  std::optional<Run> second = run_of(graph, b);
  if (!first || !second || first->axis != second->axis) return std::nullopt;
  if (second->end == first->begin) std::swap(first, second);
  if (first->end != second->begin) return std::nullopt;
  first->parts.insert(first->parts.end(), second->parts.begin(), second->parts.end());
  const Type whole = graph.type(a);
  Type part = whole;
  part.shape[first->axis] = second->end - first->begin;
  const Value joined = add(graph, op::Concatenate{static_cast<std::int64_t>(first->axis)},
                           std::move(first->parts), part);
  if (part == whole) return joined;
  op::Pad pad{Axes(whole.shape.size(), 0), Axes(whole.shape.size(), 0)};
  pad.low[first->axis] = first->begin;
  pad.high[first->axis] = first->size - second->end;
  return add(graph, std::move(pad), {joined}, whole);
}

}  // namespace

Graph join_pads(const Graph& graph) {
  Graph result;
  std::vector<Value> moved(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node node = graph.nodes[i];
    for (Value& input : node.inputs) input = moved[input.index()];
    std::optional<Value> joined;
    if (node.op == Op{op::Binary{BinaryKind::add}}) {
      joined = join(result, node.inputs[0], node.inputs[1]);
    }
    if (!joined) {
      joined = Value{static_cast<std::int32_t>(result.nodes.size())};
      result.nodes.push_back(std::move(node));
    }
    moved[i] = *joined;
  }
  for (const Value parameter : graph.parameters) {
    result.parameters.push_back(moved[parameter.index()]);
  }
  for (const Value output : graph.outputs) result.outputs.push_back(moved[output.index()]);
  return result;
}

}  // namespace trainward::graph
