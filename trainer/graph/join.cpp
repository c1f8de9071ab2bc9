#include <optional>

#include "trainer/graph/copy.hpp"
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

// Of two runs, one of which ends where the other begins.
std::optional<Value> join(Copy& copy, Value a, Value b) {
  std::optional<Run> first = run_of(copy.made(), a);
  std::optional<Run> second = run_of(copy.made(), b);
  if (!first || !second || first->axis != second->axis) return std::nullopt;
  if (second->end == first->begin) std::swap(first, second);
  if (first->end != second->begin) return std::nullopt;
  first->parts.insert(first->parts.end(), second->parts.begin(), second->parts.end());
  const Type whole = copy.made().type(a);
  Type part = whole;
  part.shape[first->axis] = second->end - first->begin;
  const Value joined = copy.add(
      {op::Concatenate{static_cast<std::int64_t>(first->axis)}, std::move(first->parts), part});
  if (part == whole) return joined;
  op::Pad pad{Axes(whole.shape.size(), 0), Axes(whole.shape.size(), 0)};
  pad.low[first->axis] = first->begin;
  pad.high[first->axis] = first->size - second->end;
  return copy.add({std::move(pad), {joined}, whole});
}

}  // namespace

Graph join_pads(const Graph& graph) {
  Copy copy(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node node = copy.taken(i);
    std::optional<Value> joined;
    if (node.op == Op{op::Binary{BinaryKind::add}}) {
      joined = join(copy, node.inputs[0], node.inputs[1]);
    }
    if (joined) copy.put(i, *joined);
    if (!joined) copy.put(i, std::move(node));
  }
  return copy.finish();
}

}  // namespace trainward::graph
