#include "trainer/graph/infer.hpp"

#include <algorithm>

namespace trainward::graph {
namespace {

using Types = std::span<const Type>;

// Beyond what any machine holds; counting further could overflow.
constexpr std::int64_t most_elements = std::int64_t{1} << 40;
constexpr std::int64_t most_devices = 1024;

bool is_countable(const Shape& shape) {
  std::int64_t left = most_elements;
  return std::all_of(shape.begin(), shape.end(), [&](std::int64_t size) {
    if (size <= 0 || size > left) return false;
    left /= size;
    return true;
  });
}

class Inference {
 public:
  Inference(const Op& op, Types inputs) : op_(op), inputs_(inputs) {}

  Result<Type> operator()(const op::Parameter& p) const {
    const auto usual = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '.' || c == '_';
    };
    if (p.name.empty() || !std::all_of(p.name.begin(), p.name.end(), usual)) {
      return wrong("a name is made of letters, digits, '.' and '_'");
    }
    return declared(p.type);
  }
  Result<Type> operator()(const op::Constant& c) const { return declared(c.type); }
  Result<Type> operator()(const op::Iota& iota) const {
    if (!axis_of(iota.type.shape, iota.axis)) return wrong("the axis is out of range");
    return declared(iota.type);
  }

  Result<Type> operator()(const op::Unary&) const {
    if (!is_count(1) || inputs_[0].element != Element::f32) return wrong("needs one f32 operand");
    return inputs_[0];
  }
  Result<Type> operator()(const op::Binary& binary) const {
    if (!is_count(2)) return wrong("needs two operands");
    if (inputs_[0] != inputs_[1]) return wrong("the operands differ");
    const bool bitwise = binary.kind >= BinaryKind::bit_and;
    if (bitwise && inputs_[0].element != Element::i32) return wrong("the operands must be i32");
    if (inputs_[0].element == Element::pred) return wrong("the operands must be numbers");
    return inputs_[0];
  }
  Result<Type> operator()(const op::Compare&) const {
    if (!is_count(2)) return wrong("needs two operands");
    if (inputs_[0] != inputs_[1]) return wrong("the operands differ");
    return Type{Element::pred, inputs_[0].shape};
  }
  Result<Type> operator()(const op::Select&) const {
    if (!is_count(3)) return wrong("needs three operands");
    if (inputs_[0].element != Element::pred) return wrong("the first operand must be pred");
    if (inputs_[1] != inputs_[2] || inputs_[0].shape != inputs_[1].shape) {
      return wrong("the operands differ");
    }
    return inputs_[1];
  }
  Result<Type> operator()(const op::Convert& convert) const {
    if (!is_count(1)) return wrong("needs one operand");
    return Type{convert.element, inputs_[0].shape};
  }

  Result<Type> operator()(const op::Reduce& reduce) const {
    if (!is_count(1) || inputs_[0].element != Element::f32) return wrong("needs one f32 operand");
    if (!ascending_axes(reduce.axes, inputs_[0].shape.size())) {
      return wrong("the axes must ascend and exist");
    }
    Type type = inputs_[0];
    type.shape.clear();
    for (const std::int64_t axis : other_axes(inputs_[0].shape.size(), reduce.axes)) {
      type.shape.push_back(at(inputs_[0].shape, axis));
    }
    return type;
  }
  Result<Type> operator()(const op::Broadcast& broadcast) const {
    if (!is_count(1)) return wrong("needs one operand");
    const Shape& from = inputs_[0].shape;
    if (broadcast.axes.size() != from.size() ||
        !ascending_axes(broadcast.axes, broadcast.shape.size())) {
      return wrong(fmt::format("the axes must ascend and exist in {}", to_string(broadcast.shape)));
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (at(broadcast.shape, broadcast.axes[i]) != from[i]) {
        return wrong(fmt::format("the sizes do not fit {}", to_string(broadcast.shape)));
      }
    }
    return Type{inputs_[0].element, broadcast.shape};
  }
  Result<Type> operator()(const op::Reshape& reshape) const {
    if (!is_count(1)) return wrong("needs one operand");
    if (!is_countable(reshape.shape) ||
        element_count(reshape.shape) != element_count(inputs_[0].shape)) {
      return wrong(fmt::format("{} has another number of elements", to_string(reshape.shape)));
    }
    return Type{inputs_[0].element, reshape.shape};
  }
  Result<Type> operator()(const op::Transpose& transpose) const {
    if (!is_count(1)) return wrong("needs one operand");
    Axes sorted = transpose.permutation;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.size() != inputs_[0].shape.size() || !ascending_axes(sorted, sorted.size())) {
      return wrong("the permutation must name every axis once");
    }
    Type type = inputs_[0];
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      type.shape[i] = at(inputs_[0].shape, transpose.permutation[i]);
    }
    return type;
  }
  Result<Type> operator()(const op::Slice& slice) const {
    if (!is_count(1)) return wrong("needs one operand");
    Type type = inputs_[0];
    if (slice.start.size() != type.shape.size() || slice.limit.size() != type.shape.size()) {
      return wrong("needs a start and a limit per axis");
    }
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
      if (slice.start[i] < 0 || slice.limit[i] <= slice.start[i] ||
          slice.limit[i] > type.shape[i]) {
        return wrong("a range is empty or leaves the operand");
      }
      type.shape[i] = slice.limit[i] - slice.start[i];
    }
    return type;
  }
  Result<Type> operator()(const op::Pad& pad) const {
    if (!is_count(1)) return wrong("needs one operand");
    Type type = inputs_[0];
    if (pad.low.size() != type.shape.size() || pad.high.size() != type.shape.size()) {
      return wrong("needs two counts per axis");
    }
    for (std::size_t i = 0; i < type.shape.size(); ++i) {
      if (pad.low[i] < 0 || pad.high[i] < 0) return wrong("a count is negative");
      if (std::max(pad.low[i], pad.high[i]) > most_elements) return wrong("a count is too large");
      type.shape[i] += pad.low[i] + pad.high[i];
    }
    return type;
  }
  Result<Type> operator()(const op::Concatenate& concatenate) const {
    if (inputs_.empty() || !axis_of(inputs_[0].shape, concatenate.axis)) {
      return wrong("the axis is out of range");
    }
    const auto axis = static_cast<std::size_t>(concatenate.axis);
    Type type = inputs_[0];
    type.shape[axis] = 0;
    for (const Type& input : inputs_) {
      Type rest = input;
      if (rest.shape.size() != type.shape.size()) return wrong("the ranks differ");
      type.shape[axis] += rest.shape[axis];
      rest.shape[axis] = inputs_[0].shape[axis];
      if (rest != inputs_[0]) return wrong("the operands differ outside the axis");
    }
    return type;
  }
  Result<Type> operator()(const op::DotGeneral& dot) const {
    if (!is_count(2)) return wrong("needs two operands");
    return infer_dot_general(dot, inputs_[0], inputs_[1]);
  }
  Result<Type> operator()(const op::GatherRows&) const {
    if (!is_count(2) || inputs_[0].shape.size() != 2 || inputs_[1].element != Element::i32) {
      return wrong("needs a table of two axes and i32 ids");
    }
    Type type{inputs_[0].element, inputs_[1].shape};
    type.shape.push_back(inputs_[0].shape[1]);
    return type;
  }
  Result<Type> operator()(const op::ScatterAddRows& scatter) const {
    if (!is_count(2) || inputs_[0].element != Element::i32 || inputs_[1].element != Element::f32) {
      return wrong("needs i32 ids and f32 rows");
    }
    const Shape& ids = inputs_[0].shape;
    const Shape& rows = inputs_[1].shape;
    if (rows.size() != ids.size() + 1 || !std::equal(ids.begin(), ids.end(), rows.begin()) ||
        scatter.rows <= 0) {
      return wrong("needs one row per id");
    }
    return Type{Element::f32, {scatter.rows, rows.back()}};
  }
  Result<Type> operator()(const op::AllReduce& sum) const {
    if (!is_count(1) || inputs_[0].element != Element::f32) return wrong("needs one f32 operand");
    if (sum.devices < 1 || sum.devices > most_devices || sum.stride < 1 ||
        sum.stride > most_devices) {
      return wrong("no such number of devices");
    }
    return inputs_[0];
  }
  Result<Type> operator()(const op::Attention& attention) const {
    if (!are_queries_keys_values(3)) return wrong_attention();
    return attention.result == AttentionResult::output ? attended() : statistics();
  }
  Result<Type> operator()(const op::AttentionGradient& gradient) const {
    if (!are_queries_keys_values(6)) return wrong_attention();
    if (inputs_[3] != statistics()) return wrong("the statistics must be one f32 for each query");
    if (inputs_[4] != attended() || inputs_[5] != inputs_[4]) {
      return wrong("output and cotangent must be as the operation gives the output");
    }
    if (gradient.input < 0 || gradient.input > 2) return wrong("inputs are 0, 1 and 2");
    return inputs_[static_cast<std::size_t>(gradient.input)];
  }

 private:
  // The first three of `count` inputs, after which segments may follow.
  [[nodiscard]] bool are_queries_keys_values(std::size_t count) const {
    if (inputs_.size() != count && inputs_.size() != count + 1) return false;
    Type keys = inputs_[0];
    if (keys.element != Element::bf16 && keys.element != Element::f32) return false;
    if (keys.shape.size() != 4 || inputs_[1].shape.size() != 4 || inputs_[2].shape.size() != 4) {
      return false;
    }
    const Type rows{Element::i32, {keys.shape[0], keys.shape[1]}};
    if (inputs_.size() > count && inputs_[count] != rows) return false;
    const std::int64_t groups = inputs_[1].shape[2];
    if (groups < 1 || keys.shape[2] % groups != 0) return false;
    keys.shape[2] = groups;
    Type values = keys;
    values.shape[3] = inputs_[2].shape[3];
    return inputs_[1] == keys && inputs_[2] == values;
  }
  [[nodiscard]] Type attended() const {
    Type type = inputs_[0];
    type.shape[3] = inputs_[2].shape[3];
    return type;
  }
  [[nodiscard]] Result<Type> wrong_attention() const {
    return wrong(
        "queries, keys and values must be f32 or bf16 [batch, positions, heads, width], alike but "
        "for heads, of which keys and values may have a share, and the width of the values; "
        "segments must be i32 [batch, positions]");
  }
  [[nodiscard]] Type statistics() const {
    const Shape& q = inputs_[0].shape;
    return {Element::f32, {q[0], q[2], q[1]}};
  }
  static std::int64_t at(const Shape& shape, std::int64_t axis) {
    return shape[static_cast<std::size_t>(axis)];
  }
  static bool axis_of(const Shape& shape, std::int64_t axis) {
    return axis >= 0 && axis < static_cast<std::int64_t>(shape.size());
  }
  static bool ascending_axes(const Axes& axes, std::size_t rank) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] < 0 || axes[i] >= static_cast<std::int64_t>(rank)) return false;
      if (i > 0 && axes[i] <= axes[i - 1]) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_count(std::size_t count) const { return inputs_.size() == count; }

  Result<Type> declared(const Type& type) const {
    if (!inputs_.empty()) return wrong("takes no operands");
    if (!is_countable(type.shape)) {
      return wrong(fmt::format("{} has an empty axis or is too large", to_string(type)));
    }
    return type;
  }

  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view why) const {
    std::string operands;
    for (const Type& input : inputs_) {
      operands += (operands.empty() ? "" : ", ") + to_string(input);
    }
    const std::string attributes = attributes_of(op_);
    return fail(ErrorKind::usage, fmt::format("{}: {} ({}{}{})", name_of(op_), why, operands,
                                              attributes.empty() ? "" : "; ", attributes));
  }

  const Op& op_;
  Types inputs_;
};

}  // namespace

Result<Type> infer(const Op& op, std::span<const Type> inputs) {
  Result<Type> type = std::visit(Inference(op, inputs), op);
  if (type && !is_countable(type->shape)) {
    return fail(ErrorKind::usage, fmt::format("{}: {} has an empty axis or is too large",
                                              name_of(op), to_string(*type)));
  }
  return type;
}

}  // namespace trainward::graph
