#include "trainer/cpu/fusion/legalise.hpp"

#include <algorithm>
#include <numeric>

#include "trainer/cpu/runtime/dot_layout.hpp"
#include "trainer/graph/infer.hpp"

namespace trainward::cpu {
namespace {

namespace op = graph::op;
using graph::Element;
using graph::Graph;
using graph::Node;
using graph::Op;

// What may be of it, or read it: what stores, converts, multiplies or only looks at elements.
bool takes_bf16(const Op& op) {
  return std::holds_alternative<op::Parameter>(op) || std::holds_alternative<op::Constant>(op) ||
         std::holds_alternative<op::Convert>(op) || std::holds_alternative<op::DotGeneral>(op) ||
         std::holds_alternative<op::Broadcast>(op) || std::holds_alternative<op::Reshape>(op) ||
         std::holds_alternative<op::Transpose>(op) || std::holds_alternative<op::Slice>(op) ||
         std::holds_alternative<op::GatherRows>(op) || is_attention(op);
}

class Legaliser {
 public:
  explicit Legaliser(const Graph& graph) : in_(graph), moved_(graph.nodes.size()) {}

  Result<LegalGraph> run() {
    count_uses();
    for (std::size_t i = 0; i < in_.nodes.size(); ++i) {
      std::vector<Value> inputs;
      inputs.reserve(in_.nodes[i].inputs.size());
      for (const Value input : in_.nodes[i].inputs) inputs.push_back(moved_[input.index()]);
      current_ = Value{static_cast<std::int32_t>(i)};
      moved_[i] = rewrite(in_.nodes[i], std::move(inputs));
      if (error_) return tl::unexpected<Error>(*error_);
    }
    for (const Value parameter : in_.parameters) {
      out_.graph.parameters.push_back(moved_[parameter.index()]);
    }
    for (const Value output : in_.outputs) out_.graph.outputs.push_back(as_output(output));
    return std::move(out_);
  }

 private:
  void count_uses() {
    uses_.resize(in_.nodes.size(), 0);
    user_.resize(in_.nodes.size());
    for (std::size_t i = 0; i < in_.nodes.size(); ++i) {
      for (const Value input : in_.nodes[i].inputs) {
        ++uses_[input.index()];
        user_[input.index()] = i;
      }
    }
    for (const Value output : in_.outputs) uses_[output.index()] += 2;
  }

  // Appends one node whose inputs are already legal.
  Value add(const Op& op, std::vector<Value> inputs) {
    std::vector<graph::Type> types;
    types.reserve(inputs.size());
    for (const Value input : inputs) types.push_back(out_.graph.type(input));
    Result<graph::Type> type = graph::infer(op, types);
    if (!type) {
      error_ = type.error();
      type = graph::Type{};
    }
    const Value value{static_cast<std::int32_t>(out_.graph.nodes.size())};
    View view = whole(value, type->shape);
    if (const auto* constant = std::get_if<op::Constant>(&op)) {
      view.strides.assign(constant->type.shape.size(), 0);  // one stored element, repeated
    } else if (const auto* iota = std::get_if<op::Iota>(&op)) {
      view.strides.assign(iota->type.shape.size(), 0);
      view.strides[static_cast<std::size_t>(iota->axis)] = 1;
    } else if (const auto* spread = std::get_if<op::Broadcast>(&op)) {
      view = broadcast(view_of(inputs[0]), spread->axes, spread->shape);
    } else if (const auto* permute = std::get_if<op::Transpose>(&op)) {
      view = transpose(view_of(inputs[0]), permute->permutation);
    } else if (const auto* part = std::get_if<op::Slice>(&op)) {
      view = slice(view_of(inputs[0]), part->start, part->limit);
    } else if (const auto* shaped = std::get_if<op::Reshape>(&op)) {
      view = *reshape(view_of(inputs[0]), shaped->shape);
    }
    out_.graph.nodes.push_back(Node{op, std::move(inputs), *std::move(type)});
    out_.views.push_back(std::move(view));
    copies_.emplace_back();
    return value;
  }

  [[nodiscard]] const View& view_of(Value value) const { return out_.views[value.index()]; }
  [[nodiscard]] const Shape& shape_of(Value value) const { return out_.graph.type(value).shape; }

  // A dense copy, made once per value.
  Value copy(Value value) {
    if (!copies_[value.index()].valid()) {
      const Value made = add(op::Convert{out_.graph.type(value).element}, {value});
      copies_[value.index()] = made;
    }
    return copies_[value.index()];
  }
  Value dense(Value value) {
    const View& view = view_of(value);
    return !is_repeated_constant(view) && is_contiguous(view) ? value : copy(value);
  }
  [[nodiscard]] bool is_repeated_constant(const View& view) const {
    const Op& op = out_.graph.node(view.root).op;
    return std::holds_alternative<op::Constant>(op) || std::holds_alternative<op::Iota>(op);
  }

  Value rewrite(const Node& node, std::vector<Value> inputs) {
    for (std::size_t k = 0; k <= inputs.size() && !takes_bf16(node.op); ++k) {
      const graph::Type& type = k < inputs.size() ? out_.graph.type(inputs[k]) : node.type;
      if (type.element != graph::Element::bf16) continue;
      error_ = Error{ErrorKind::usage,
                     fmt::format("{}: the CPU executor does not compute in {}",
                                 graph::name_of(node.op), graph::to_string(type)),
                     {},
                     {}};
      return {};
    }
    if (std::holds_alternative<op::AllReduce>(node.op)) {
      error_ = Error{ErrorKind::usage, "all_reduce: the CPU executor is one device", {}, {}};
      return {};
    }
    if (const auto* reduce = std::get_if<op::Reduce>(&node.op)) {
      return rewrite_reduce(*reduce, inputs[0]);
    }
    if (std::holds_alternative<op::Convert>(node.op) && is_widened_for_a_row(current_)) {
      return inputs[0];
    }
    if (const auto* dot = std::get_if<op::DotGeneral>(&node.op)) {
      if (out_.graph.type(inputs[0]).element != out_.graph.type(inputs[1]).element) {
        return add_row_product(node, dense(inputs[0]), inputs[1]);
      }
      return rewrite_dot(*dot, inputs[0], inputs[1]);
    }
    if (node.op == Op{op::Binary{graph::BinaryKind::add}}) {
      for (std::size_t k = 0; k < 2; ++k) {
        if (takes(node.inputs[k], inputs[k], node.inputs[1 - k], inputs[1 - k])) return inputs[k];
      }
    }
    if (const auto* shaped = std::get_if<op::Reshape>(&node.op)) {
      if (!reshape(view_of(inputs[0]), shaped->shape)) inputs[0] = copy(inputs[0]);
    }
    if (std::holds_alternative<op::GatherRows>(node.op) ||
        std::holds_alternative<op::ScatterAddRows>(node.op)) {
      for (Value& input : inputs) input = dense(input);
    }
    if (is_attention(node.op)) {
      for (Value& input : inputs) {
        const View& seen = view_of(input);
        const bool heads = seen.shape.size() == 4 && seen.strides.back() == 1;
        if (!heads || is_repeated_constant(seen)) input = dense(input);
      }
    }
    return add(node.op, std::move(inputs));
  }

  // A product of two operands, all of f32 results, that only one node reads, as it lies.
  [[nodiscard]] bool is_own_product(Value source, Value value) const {
    const Node& node = out_.graph.node(value);
    return std::holds_alternative<op::DotGeneral>(node.op) && uses_[source.index()] == 1 &&
           node.type.shape.size() > 1 && view_of(value).root == value &&
           is_contiguous(view_of(value)) &&
           out_.graph.type(node.inputs[0]).element == out_.graph.type(node.inputs[1]).element;
  }
  // Lets a product add what is added to it. The values as the graph has them, and as they are here.
  bool takes(Value source, Value product, Value other_source, Value other) {
    if (!is_own_product(source, product)) return false;
    Node& node = out_.graph.nodes[product.index()];
    if (node.inputs.size() != 2) return false;
    if (other < product && is_own_product(other_source, other)) {
      node.inputs.push_back(other);
      return true;
    }
    const auto& dot = std::get<op::DotGeneral>(node.op);
    const View& row = view_of(other);
    const std::size_t last = row.shape.size() - 1;
    const bool repeats = std::all_of(row.strides.begin(), row.strides.end() - 1,
                                     [](std::int64_t stride) { return stride == 0; });
    const graph::Type& stored = out_.graph.type(row.root);
    const bool whole_row = stored == graph::Type{Element::f32, {row.shape[last]}} &&
                           row.offset == 0 && row.strides[last] == 1 &&
                           std::holds_alternative<op::Parameter>(out_.graph.node(row.root).op);
    // The columns of the product are the last axis.
    const bool columns =
        dot.rhs_batch.empty() && shape_of(node.inputs[1]).size() == dot.rhs_contract.size() + 1;
    if (!repeats || !whole_row || !columns) return false;
    node.inputs.push_back(row.root);
    return true;
  }

  // A matrix of bf16, rows by what is summed over, that one row of f32 is multiplied with.
  [[nodiscard]] bool is_widened_for_a_row(Value convert) const {
    if (uses_[convert.index()] != 1) return false;
    const Node& source = in_.node(in_.node(convert).inputs[0]);
    const Node& user = in_.nodes[user_[convert.index()]];
    const auto* dot = std::get_if<op::DotGeneral>(&user.op);
    if (!std::holds_alternative<op::Parameter>(source.op) || dot == nullptr ||
        source.type.element != graph::Element::bf16 || source.type.shape.size() != 2) {
      return false;
    }
    if (user.inputs[1] != convert || !dot->rhs_batch.empty() || dot->rhs_contract != Axes{1} ||
        user.type.element != graph::Element::f32) {
      return false;
    }
    const graph::Type& row = in_.type(user.inputs[0]);
    return row.element == graph::Element::f32 &&
           graph::element_count(row.shape) == source.type.shape[1];
  }
  // Its type is not one that graphs have.
  Value add_row_product(const Node& node, Value row, Value matrix) {
    const Value value{static_cast<std::int32_t>(out_.graph.nodes.size())};
    out_.graph.nodes.push_back(Node{node.op, {row, matrix}, node.type});
    out_.views.push_back(whole(value, node.type.shape));
    copies_.emplace_back();
    return value;
  }

  Value rewrite_reduce(const op::Reduce& reduce, Value input) {
    const std::size_t rank = shape_of(input).size();
    if (reduce.axes.empty()) return copy(input);
    const auto last = static_cast<std::int64_t>(rank) - 1;
    if (reduce.axes.back() == last) {
      const Value rows = add(op::Reduce{reduce.kind, {last}}, {input});
      Axes rest(reduce.axes.begin(), reduce.axes.end() - 1);
      return rest.empty() ? rows : rewrite_reduce({reduce.kind, rest}, rows);
    }
    if (reduce.axes.size() == rank - 1) return add(reduce, {input});
    // Neither case: move the reduced axes to the end and merge them.
    const Axes kept = graph::other_axes(rank, reduce.axes);
    Axes order = kept;
    order.insert(order.end(), reduce.axes.begin(), reduce.axes.end());
    const Value moved = copy(add(op::Transpose{order}, {input}));
    Shape merged;
    std::int64_t size = 1;
    for (const std::int64_t axis : kept) {
      merged.push_back(shape_of(input)[static_cast<std::size_t>(axis)]);
    }
    for (const std::int64_t axis : reduce.axes) {
      size *= shape_of(input)[static_cast<std::size_t>(axis)];
    }
    merged.push_back(size);
    const Value flat = add(op::Reshape{merged}, {moved});
    return add(op::Reduce{reduce.kind, {static_cast<std::int64_t>(kept.size())}}, {flat});
  }

  // Brings an operand into the order batch, free, contracted when it does not fit as it lies.
  Value fit_operand(Value operand, Axes& batch, Axes& contract) {
    if (fits_product(view_of(operand), batch, contract)) return operand;
    const std::size_t rank = shape_of(operand).size();
    const Axes order = product_order(rank, batch, contract);
    const Value moved = copy(add(op::Transpose{order}, {operand}));
    std::iota(batch.begin(), batch.end(), std::int64_t{0});
    std::iota(contract.begin(), contract.end(), static_cast<std::int64_t>(rank - contract.size()));
    return moved;
  }

  Value rewrite_dot(op::DotGeneral dot, Value lhs, Value rhs) {
    lhs = fit_operand(lhs, dot.lhs_batch, dot.lhs_contract);
    rhs = fit_operand(rhs, dot.rhs_batch, dot.rhs_contract);
    const Value value = add(dot, {lhs, rhs});
    if (error_) return value;
    // When the result is only ever transposed, the product writes it in that order straight away.
    const Value source = current_;
    if (uses_[source.index()] == 1) {
      const Node& user = in_.nodes[user_[source.index()]];
      if (const auto* permute = std::get_if<op::Transpose>(&user.op)) {
        const Shape& shape = shape_of(value);
        Shape stored(shape.size());
        for (std::size_t i = 0; i < shape.size(); ++i) {
          stored[i] = shape[static_cast<std::size_t>(permute->permutation[i])];
        }
        const Shape dense_strides = graph::contiguous_strides(stored);
        View view = view_of(value);
        for (std::size_t i = 0; i < shape.size(); ++i) {
          view.strides[static_cast<std::size_t>(permute->permutation[i])] = dense_strides[i];
        }
        if (dot_layout(dot, view_of(lhs), view_of(rhs), view)) out_.views[value.index()] = view;
      }
    }
    return value;
  }

  // An output needs storage of its own, dense, written by a kernel, and written once.
  Value as_output(Value output) {
    Value value = moved_[output.index()];
    const Op& op = out_.graph.node(value).op;
    const bool own = view_of(value).root == value && is_contiguous(view_of(value)) &&
                     !is_repeated_constant(view_of(value)) &&
                     !std::holds_alternative<op::Parameter>(op);
    const bool taken = std::find(out_.graph.outputs.begin(), out_.graph.outputs.end(), value) !=
                       out_.graph.outputs.end();
    return own && !taken ? value : add(op::Convert{out_.graph.type(value).element}, {value});
  }

  const Graph& in_;
  std::vector<Value> moved_;
  std::vector<std::size_t> uses_;
  std::vector<std::size_t> user_;
  Value current_;
  LegalGraph out_;
  std::vector<Value> copies_;
  std::optional<Error> error_;
};

}  // namespace

Result<LegalGraph> legalise(const Graph& graph) { return Legaliser(graph).run(); }

bool is_attention(const Op& op) {
  return std::holds_alternative<op::Attention>(op) ||
         std::holds_alternative<op::AttentionGradient>(op);
}

Addend addend_of(const LegalGraph& legal, Value value) {
  const Node& node = legal.graph.node(value);
  if (!std::holds_alternative<op::DotGeneral>(node.op) || node.inputs.size() < 3) {
    return Addend::none;
  }
  const Node& addend = legal.graph.node(node.inputs[2]);
  return std::holds_alternative<op::Parameter>(addend.op) ? Addend::row : Addend::product;
}

bool is_row_product(const LegalGraph& legal, Value value) {
  const Node& node = legal.graph.node(value);
  return std::holds_alternative<op::DotGeneral>(node.op) &&
         legal.graph.type(node.inputs[0]).element != legal.graph.type(node.inputs[1]).element;
}

bool is_view(const LegalGraph& legal, Value value) {
  return legal.views[value.index()].root != value;
}

}  // namespace trainward::cpu
