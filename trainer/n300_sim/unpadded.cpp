#include "trainer/n300_sim/unpadded.hpp"

#include <algorithm>

#include "trainer/graph/builder.hpp"
#include "trainer/graph/passes.hpp"

namespace trainward::n300 {
namespace {

namespace op = graph::op;
using graph::Axes;
using graph::Builder;
using graph::Element;
using graph::Graph;
using graph::Node;
using graph::Shape;
using graph::Value;

// A value of the old graph: `core`, a value of the new one, and zeros behind it along each axis.
struct Form {
  Value core;
  Shape full;
};

class Unpadder {
 public:
  explicit Unpadder(const Graph& graph) : graph_(graph) {}

  Result<Graph> run() {
    for (const Node& node : graph_.nodes) {
      node_ = &node;
      forms_.push_back(std::visit(*this, node.op));
    }
    std::vector<Value> outputs;
    for (const Value output : graph_.outputs) outputs.push_back(whole(forms_[output.index()]));
    Result<Graph> result = b_.finish(outputs);
    if (!result) return result;
    return graph::simplify(*result);
  }

  Form operator()(const op::Parameter&) { return same(); }
  Form operator()(const op::Constant&) { return same(); }
  Form operator()(const op::Iota&) { return same(); }
  Form operator()(const op::Compare&) { return same(); }
  Form operator()(const op::Concatenate&) { return same(); }
  Form operator()(const op::GatherRows&) { return same(); }
  Form operator()(const op::ScatterAddRows&) { return same(); }
  Form operator()(const op::Attention&) { return same(); }
  Form operator()(const op::AttentionGradient&) { return same(); }

  Form operator()(const op::Unary& unary) {
    using Kind = graph::UnaryKind;
    const bool keeps_zero =
        unary.kind == Kind::negate || unary.kind == Kind::tanh || unary.kind == Kind::sqrt;
    return keeps_zero ? on_core(unary) : same();
  }
  Form operator()(const op::Convert& convert) { return on_core(convert); }
  Form operator()(const op::AllReduce& sum) { return on_core(sum); }

  Form operator()(const op::Binary& binary) {
    using Kind = graph::BinaryKind;
    switch (binary.kind) {
      case Kind::multiply:
      case Kind::bit_and:
        return on_overlap(binary, smaller(shape(0), shape(1)));
      case Kind::add:
      case Kind::subtract:
      case Kind::maximum:
      case Kind::bit_or:
      case Kind::bit_xor:
        return on_overlap(binary, larger(extent(0), extent(1)));
      case Kind::divide:
      case Kind::shift_right_logical:
        return same();
    }
    return same();
  }

  Form operator()(const op::Select&) {
    const Shape size = larger(extent(1), extent(2));
    if (size.empty()) return same();
    return {b_.select(cut(0, size), cut(1, size), cut(2, size)), node_->type.shape};
  }

  Form operator()(const op::Reduce& reduce) {
    const bool sum = reduce.kind == graph::ReduceKind::sum;
    for (const std::int64_t axis : reduce.axes) {
      const auto i = static_cast<std::size_t>(axis);
      if (!sum && shape(0)[i] != input(0).full[i]) return same();
    }
    return on_core(reduce);
  }

  Form operator()(const op::Broadcast& broadcast) {
    Shape size = broadcast.shape;
    for (std::size_t i = 0; i < broadcast.axes.size(); ++i) {
      size[static_cast<std::size_t>(broadcast.axes[i])] = shape(0)[i];
    }
    return {b_.broadcast(input(0).core, broadcast.axes, size), broadcast.shape};
  }

  // Padded axes must be axes of the result too.
  Form operator()(const op::Reshape& reshape) {
    const Shape& from = input(0).full;
    Shape size = reshape.shape;
    std::int64_t before = 1;
    std::size_t k = 0;
    std::int64_t before_k = 1;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (shape(0)[i] != from[i]) {
        while (k < size.size() && (before_k < before || reshape.shape[k] == 1)) {
          before_k *= reshape.shape[k++];
        }
        if (k == size.size() || before_k != before || reshape.shape[k] != from[i]) return same();
        size[k] = shape(0)[i];
      }
      before *= from[i];
    }
    return {b_.reshape(input(0).core, size), reshape.shape};
  }

  Form operator()(const op::Transpose& transpose) { return on_core(transpose); }

  Form operator()(const op::Slice& slice) {
    Axes limit = slice.limit;
    for (std::size_t i = 0; i < limit.size(); ++i) {
      limit[i] = std::min(limit[i], shape(0)[i]);
      if (limit[i] <= slice.start[i]) return same();
    }
    return {b_.slice(input(0).core, slice.start, limit), node_->type.shape};
  }

  Form operator()(const op::Pad& pad) {
    const bool behind =
        std::all_of(pad.low.begin(), pad.low.end(), [](std::int64_t count) { return count == 0; });
    return behind ? Form{input(0).core, node_->type.shape} : same();
  }

  // Where one operand is zero, so is the product.
  Form operator()(const op::DotGeneral& dot) {
    Shape lhs = shape(0);
    Shape rhs = shape(1);
    const auto meet = [&](const Axes& left, const Axes& right) {
      for (std::size_t i = 0; i < left.size(); ++i) {
        std::int64_t& a = lhs[static_cast<std::size_t>(left[i])];
        std::int64_t& b = rhs[static_cast<std::size_t>(right[i])];
        a = b = std::min(a, b);
      }
    };
    meet(dot.lhs_batch, dot.rhs_batch);
    meet(dot.lhs_contract, dot.rhs_contract);
    return {b_.append(dot, {cut(0, lhs), cut(1, rhs)}), node_->type.shape};
  }

 private:
  [[nodiscard]] const Form& input(std::size_t k) const { return forms_[node_->inputs[k].index()]; }
  [[nodiscard]] const Shape& shape(std::size_t k) const { return b_.type(input(k).core).shape; }

  // How far an operand is not zero; nothing for one that is zero everywhere.
  [[nodiscard]] Shape extent(std::size_t k) const {
    const auto* constant = std::get_if<op::Constant>(&graph_.node(node_->inputs[k]).op);
    return constant != nullptr && constant->value == 0 ? Shape{} : shape(k);
  }
  static Shape larger(Shape a, const Shape& b) {
    if (a.empty() || b.empty()) return a.empty() ? b : a;
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::max(a[i], b[i]);
    return a;
  }
  static Shape smaller(Shape a, const Shape& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::min(a[i], b[i]);
    return a;
  }

  // An operand of exactly that size: cut, or with some of its zeros.
  Value cut(std::size_t k, const Shape& size) { return fit(input(k).core, size); }
  Value fit(Value value, const Shape& size) {
    const Shape now = b_.type(value).shape;
    const Shape common = smaller(now, size);
    if (common != now) value = b_.slice(value, Axes(size.size(), 0), common);
    if (common == size) return value;
    Axes behind(size.size());
    for (std::size_t i = 0; i < size.size(); ++i) behind[i] = size[i] - common[i];
    // The executor pads no bf16.
    const Element element = b_.type(value).element;
    const bool half = element == Element::bf16;
    if (half) value = b_.convert(value, Element::f32);
    value = b_.pad(value, Axes(size.size(), 0), behind);
    return half ? b_.convert(value, element) : value;
  }
  Value whole(const Form& form) { return fit(form.core, form.full); }

  // The operation as it is, on whole operands.
  Form same() {
    std::vector<Value> inputs;
    for (const Value value : node_->inputs) inputs.push_back(whole(forms_[value.index()]));
    return {b_.append(node_->op, std::move(inputs)), node_->type.shape};
  }
  Form on_core(const graph::Op& op) { return {b_.append(op, {input(0).core}), node_->type.shape}; }
  Form on_overlap(const graph::Op& op, const Shape& size) {
    if (size.empty()) return same();
    return {b_.append(op, {cut(0, size), cut(1, size)}), node_->type.shape};
  }

  const Graph& graph_;
  Builder b_;
  std::vector<Form> forms_;
  const Node* node_ = nullptr;
};

}  // namespace

Result<Graph> without_padding(const Graph& graph) { return Unpadder(graph).run(); }

}  // namespace trainward::n300
