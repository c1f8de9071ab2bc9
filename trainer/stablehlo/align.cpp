#include "trainer/stablehlo/align.hpp"

#include <limits>

#include "trainer/stablehlo/padding_plan.hpp"
#include "trainer/stablehlo/rewrite.hpp"
#include "trainer/stablehlo/tile_shapes.hpp"

namespace trainward::stablehlo {
namespace {

namespace op = graph::op;
using graph::Axes;
using graph::Element;
using graph::Graph;
using graph::Node;
using graph::Shape;
using graph::Value;

class Aligner {
 public:
  explicit Aligner(const Graph& graph)
      : graph_(graph), plan_(plan_padding(graph)), forms_(graph.nodes.size()) {}

  Result<Graph> run() {
    for (std::size_t i = 0; i < graph_.nodes.size() && !b_.error(); ++i) {
      const Value value = make(i);
      if (value.valid()) forms_[i].push_back(value);
    }
    std::vector<Value> outputs;
    for (const Value output : graph_.outputs) outputs.push_back(in_shape(output, own(output)));
    return b_.finish(outputs);
  }

 private:
  [[nodiscard]] const Shape& own(Value old) const { return graph_.type(old).shape; }
  [[nodiscard]] const Shape& shape(Value made) const { return b_.type(made).shape; }

  Value make(std::size_t i) {
    const Node& node = graph_.nodes[i];
    const Shape& asked = plan_.computed[i];
    if (const auto* reduce = std::get_if<op::Reduce>(&node.op)) return make_reduce(i, *reduce);
    std::vector<Value> inputs;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) inputs.push_back(read(i, k));
    graph::Op op = node.op;
    if (auto* constant = std::get_if<op::Constant>(&op)) {
      constant->type.shape = asked;
    } else if (auto* reshape = std::get_if<op::Reshape>(&op)) {
      reshape->shape = asked;
    } else if (auto* broadcast = std::get_if<op::Broadcast>(&op)) {
      broadcast->shape = asked;
    } else if (auto* pad = std::get_if<op::Pad>(&op)) {
      for (std::size_t axis = 0; axis < asked.size(); ++axis) {
        pad->high[axis] += asked[axis] - node.type.shape[axis];
      }
    }
    return b_.append(std::move(op), std::move(inputs));
  }

  // Input `k` of a node in the shape it reads it in.
  Value read(std::size_t i, std::size_t k) {
    const Value old = graph_.nodes[i].inputs[k];
    const Shape& asked = plan_.reads[i][k];
    const auto* constant = std::get_if<op::Constant>(&graph_.node(old).op);
    // One number repeated: with a zero it is padding, else a factor of zeros.
    if (constant != nullptr && asked != own(old) &&
        std::holds_alternative<op::Binary>(graph_.nodes[i].op)) {
      return b_.constant(constant->value, {constant->type.element, asked});
    }
    return in_shape(old, asked);
  }

  Value make_reduce(std::size_t i, const op::Reduce& reduce) {
    const Node& node = graph_.nodes[i];
    Value input = read(i, 0);
    if (reduce.kind == graph::ReduceKind::maximum) {
      const Shape filled = reducible(own(node.inputs[0]), reduce.axes);
      for (std::size_t axis = 0; axis < filled.size(); ++axis) {
        graph::Type more = b_.type(input);
        more.shape[axis] = filled[axis] - more.shape[axis];
        if (more.shape[axis] == 0) continue;
        constexpr double lowest = std::numeric_limits<float>::lowest();
        input = b_.concatenate({input, b_.constant(lowest, more)}, static_cast<std::int64_t>(axis));
        if (b_.error()) return {};
      }
    }
    return b_.append(reduce, {input});
  }

  // The value with zeros behind its elements up to that shape: as it was made, cut from that, or
  // padded; once for each shape.
  Value in_shape(Value old, const Shape& asked) {
    std::vector<Value>& forms = forms_[old.index()];
    if (b_.error()) return {};
    for (const Value form : forms) {
      if (shape(form) == asked) return form;
    }
    for (const Value form : forms) {
      if (covers(shape(form), asked))
        return keep(old, b_.slice(form, Axes(asked.size(), 0), asked));
    }
    // The largest form that can be padded further; the value's own shape can always be had.
    Value best;
    for (const Value form : forms) {
      if (!covers(asked, shape(form))) continue;
      if (!best.valid() || covers(shape(form), shape(best))) best = form;
    }
    if (!best.valid()) best = in_shape(old, own(old));
    return keep(old, padded(best, asked));
  }
  Value keep(Value old, Value made) {
    if (made.valid()) forms_[old.index()].push_back(made);
    return made;
  }

  Value padded(Value value, const Shape& asked) {
    if (!value.valid()) return {};
    const Axes none(asked.size(), 0);
    Axes more(asked.size());
    for (std::size_t i = 0; i < more.size(); ++i) more[i] = asked[i] - shape(value)[i];
    if (b_.type(value).element != Element::bf16) {
      return b_.pad(value, none, std::move(more));
    }
    const Value wide = widened(value);
    const Value result = b_.pad(wide, none, std::move(more));
    return b_.convert(result, Element::bf16);
  }

  // As f32: what was rounded, where it was, since the result is rounded again; through what only
  // puts its elements elsewhere.
  Value widened(Value value, int steps = 4) {
    const Node& node = b_.graph().node(value);
    if (steps > 0 && (std::holds_alternative<op::Reshape>(node.op) ||
                      std::holds_alternative<op::Transpose>(node.op))) {
      graph::Op op = node.op;
      return b_.append(std::move(op), {widened(node.inputs[0], steps - 1)});
    }
    const bool rounded = std::holds_alternative<op::Convert>(node.op) &&
                         b_.type(node.inputs[0]).element == Element::f32;
    return rounded ? node.inputs[0] : b_.convert(value, Element::f32);
  }

  const Graph& graph_;
  PaddingPlan plan_;
  graph::Builder b_;
  std::vector<std::vector<Value>> forms_;  // of each old value, in the new graph
};

}  // namespace

Result<Graph> align(const Graph& graph) { return Aligner(graph).run(); }

}  // namespace trainward::stablehlo
