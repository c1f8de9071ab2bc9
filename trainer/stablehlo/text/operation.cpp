#include "trainer/stablehlo/text/operation.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "trainer/stablehlo/counts.hpp"
#include "trainer/stablehlo/text/literal.hpp"

namespace trainward::stablehlo {
namespace {

namespace op = graph::op;
using graph::Axes;
using graph::Op;
using graph::Type;
using graph::Value;

// The types after the colon. With no arrow they are alike, or a select's predicate and the others.
struct Signature {
  std::vector<Type> types;
  std::optional<Type> result;
};

Signature read_signature(Cursor& in) {
  Signature signature;
  in.expect(":");
  const bool functional = in.take_if("(");
  if (!functional || !in.at(")")) {
    do signature.types.push_back(in.type());
    while (in.take_if(","));
  }
  if (functional) {
    in.expect(")");
    in.expect("->");
    signature.result = in.type();
  }
  return signature;
}

template <typename Elementwise, typename Kind>
std::optional<Op> elementwise(std::string_view name, int count) {
  for (int i = 0; i < count; ++i) {
    const Elementwise candidate{static_cast<Kind>(i)};
    if (graph::name_of(candidate) == name) return candidate;
  }
  return std::nullopt;
}

std::optional<Op> elementwise(std::string_view name) {
  constexpr int unary = static_cast<int>(graph::UnaryKind::tanh) + 1;
  constexpr int binary = static_cast<int>(graph::BinaryKind::shift_right_logical) + 1;
  if (auto found = elementwise<op::Unary, graph::UnaryKind>(name, unary)) return found;
  return elementwise<op::Binary, graph::BinaryKind>(name, binary);
}

class Operation {
 public:
  Operation(Cursor& in, Scope& scope, std::int64_t replicas)
      : in_(in), scope_(scope), replicas_(replicas) {}

  void read() {
    const std::string_view result = in_.take(TokenKind::value, "an operation, such as '%0 = …'");
    in_.expect("=");
    std::string_view name;
    if (in_.at(TokenKind::string)) {
      name = in_.take(TokenKind::string, "an operation");
      name = name.substr(1, name.size() - 2);
    } else {
      name = in_.take(TokenKind::word, "an operation");
    }
    if (!in_.ok()) return;
    if (name == "stablehlo.constant") return scope_.name(result, constant());
    constexpr std::string_view dialect = "stablehlo.";
    const Value value =
        name.starts_with(dialect) ? body(name, name.substr(dialect.size())) : unsupported(name);
    scope_.name(result, value);
  }

 private:
  Value unsupported(std::string_view name) {
    in_.fail(fmt::format("{} is not supported", name));
    return {};
  }

  op::Constant constant() {
    in_.expect("dense");
    in_.expect("<");
    const std::string_view text = in_.at(TokenKind::word)
                                      ? in_.take(TokenKind::word, "a number")
                                      : in_.take(TokenKind::number, "a constant of one number");
    in_.expect(">");
    in_.expect(":");
    const Type type = in_.type();
    const auto value = read_literal(text, type.element);
    if (!value) {
      in_.fail(fmt::format("'{}' is no {}", text.substr(0, 60), element_name(type.element)));
    }
    return {value.value_or(0), type};
  }

  Value body(std::string_view full, std::string_view name) {
    if (const auto op = elementwise(name)) return plain(*op);
    if (name == "iota") return iota();
    if (name == "compare") return compare();
    if (name == "select") return plain(op::Select{});
    if (name == "convert") return convert();
    if (name == "reduce") return reduce();
    if (name == "broadcast_in_dim") return broadcast();
    if (name == "reshape") return reshape();
    if (name == "transpose") return transpose();
    if (name == "slice") return slice();
    if (name == "pad") return pad();
    if (name == "concatenate") return concatenate();
    if (name == "dot_general") return dot_general();
    if (name == "gather") return gather();
    if (name == "all_reduce") return all_reduce();
    return unsupported(full);
  }

  // All operands that follow, up to the first token that is not a value.
  std::vector<Value> operands() {
    std::vector<Value> all;
    do all.push_back(scope_.value());
    while (in_.ok() && in_.take_if(","));
    return all;
  }
  std::vector<Value> bracketed_operands(std::size_t count) {
    in_.expect("(");
    std::vector<Value> all = operands();
    in_.expect(")");
    if (all.size() != count) in_.fail(fmt::format("expected {} operands", count));
    return all;
  }
  Axes attribute(std::string_view key) {
    in_.expect(",");
    in_.expect(key);
    in_.expect("=");
    return in_.numbers();
  }

  // The node, and whether the types the text gives are its own. `scalars`: operands at the end
  // that the graph's operation does not have.
  Value finish(Op op, const std::vector<Value>& inputs, const Signature& signature,
               std::size_t scalars = 0) {
    const Value value = scope_.append(std::move(op), inputs);
    if (!in_.ok()) return {};
    std::vector<Type> types;
    types.reserve(inputs.size());
    for (const Value input : inputs) types.push_back(type(input));
    types.resize(types.size() + scalars);
    const Type& result = type(value);
    const bool same = signature.result ? signature.types == types && *signature.result == result
                                       : agrees_in_short(signature.types, std::move(types), result);
    if (!same)
      in_.fail(fmt::format("the types are not those of its operands, or of its result {}",
                           graph::to_string(result)));
    return value;
  }
  static bool agrees_in_short(const std::vector<Type>& stated, std::vector<Type> types,
                              const Type& result) {
    types.push_back(result);
    if (stated.size() == 2) {  // a select's
      if (types.front() != stated.front()) return false;
      types.erase(types.begin());
    }
    if (stated.empty() || stated.size() > 2) return false;
    for (const Type& type : types) {
      if (type != stated.back()) return false;
    }
    return true;
  }
  [[nodiscard]] const Type& type(Value value) const { return scope_.builder().type(value); }

  // Only what has no arrow lacks a result type of its own.
  Type result_of(const Signature& signature) {
    if (signature.result) return *signature.result;
    if (signature.types.size() == 1) return signature.types[0];
    in_.fail("expected the type of the result");
    return {};
  }

  Value plain(const Op& op) {
    const std::vector<Value> inputs = operands();
    const Signature signature = read_signature(in_);
    const Value value = finish(op, inputs, signature);
    const bool shift = op == Op{op::Binary{graph::BinaryKind::shift_right_logical}};
    if (in_.ok() && shift && !is_short_count(scope_.builder().graph(), inputs[1])) {
      in_.fail("a shift's count may be 32 or more");
    }
    return value;
  }

  Value iota() {
    in_.expect("dim");
    in_.expect("=");
    const std::int64_t axis = in_.whole();
    in_.expect(":");
    const Type type = in_.type();
    if (type.element == graph::Element::pred) in_.fail("stablehlo.iota of i1 is not supported");
    return scope_.append(op::Iota{axis, type}, {});
  }

  Value compare() {
    const std::string_view name = in_.take(TokenKind::word, "a direction");
    std::optional<op::Compare> op;
    for (const auto direction :
         {graph::Direction::eq, graph::Direction::ne, graph::Direction::lt, graph::Direction::le,
          graph::Direction::gt, graph::Direction::ge}) {
      const op::Compare candidate{direction};
      if (graph::attributes_of(candidate) == fmt::format("direction={}", name)) op = candidate;
    }
    if (!op) in_.fail(fmt::format("expected a direction, not '{}'", name.substr(0, 60)));
    in_.expect(",");
    const Value lhs = scope_.value();
    in_.expect(",");
    const Value rhs = scope_.value();
    // Left out, it is what the elements say.
    if (in_.take_if(",")) in_.expect(comparison_of(type(lhs).element));
    const Signature signature = read_signature(in_);
    return in_.ok() ? finish(*op, {lhs, rhs}, signature) : Value{};
  }

  Value convert() {
    const std::vector<Value> inputs = operands();
    const Signature signature = read_signature(in_);
    return finish(op::Convert{result_of(signature).element}, inputs, signature);
  }

  Value reduce() {
    in_.expect("(");
    const Value input = scope_.value();
    in_.expect("init");
    in_.expect(":");
    const double start = scope_.scalar();
    in_.expect(")");
    in_.expect("applies");
    const bool sum = in_.take_if("stablehlo.add");
    if (!sum) in_.expect("stablehlo.maximum");
    const double neutral = sum ? 0 : -std::numeric_limits<double>::infinity();
    if (start != neutral) in_.fail("a reduction starts with 0, a maximum with minus infinity");
    in_.expect("across");
    in_.expect("dimensions");
    in_.expect("=");
    Axes axes = in_.numbers();
    const Signature signature = read_signature(in_);
    return finish(
        op::Reduce{sum ? graph::ReduceKind::sum : graph::ReduceKind::maximum, std::move(axes)},
        {input}, signature, 1);
  }

  Value broadcast() {
    const Value input = scope_.value();
    Axes axes = attribute("dims");
    const Signature signature = read_signature(in_);
    return finish(op::Broadcast{std::move(axes), result_of(signature).shape}, {input}, signature);
  }
  Value reshape() {
    const Value input = scope_.value();
    const Signature signature = read_signature(in_);
    return finish(op::Reshape{result_of(signature).shape}, {input}, signature);
  }
  Value transpose() {
    const Value input = scope_.value();
    Axes axes = attribute("dims");
    return finish(op::Transpose{std::move(axes)}, {input}, read_signature(in_));
  }

  Value slice() {
    const Value input = scope_.value();
    op::Slice op;
    in_.expect("[");
    if (!in_.at("]")) {
      do {
        op.start.push_back(in_.whole());
        in_.expect(":");
        op.limit.push_back(in_.whole());
        if (in_.take_if(":") && in_.whole() != 1)
          in_.fail("a slice with a stride is not supported");
      } while (in_.take_if(","));
    }
    in_.expect("]");
    return finish(std::move(op), {input}, read_signature(in_));
  }

  Value pad() {
    const Value input = scope_.value();
    in_.expect(",");
    const double with = scope_.scalar();
    if (with != 0 || std::signbit(with)) in_.fail("a pad of other than zeros is not supported");
    Axes low = attribute("low");
    Axes high = attribute("high");
    if (attribute("interior") != Axes(low.size(), 0)) {
      in_.fail("a pad between elements is not supported");
    }
    return finish(op::Pad{std::move(low), std::move(high)}, {input}, read_signature(in_), 1);
  }

  Value concatenate() {
    std::vector<Value> inputs;
    do inputs.push_back(scope_.value());
    while (in_.take_if(",") && in_.at(TokenKind::value));
    in_.expect("dim");
    in_.expect("=");
    const std::int64_t axis = in_.whole();
    return finish(op::Concatenate{axis}, inputs, read_signature(in_));
  }

  Value dot_general() {
    const Value lhs = scope_.value();
    in_.expect(",");
    const Value rhs = scope_.value();
    in_.expect(",");
    op::DotGeneral dot;
    if (in_.take_if("batching_dims")) {
      axes_pair(dot.lhs_batch, dot.rhs_batch);
      in_.expect(",");
    }
    in_.expect("contracting_dims");
    axes_pair(dot.lhs_contract, dot.rhs_contract);
    if (type(lhs).element == graph::Element::bf16) dot.precision = graph::Precision::bf16;
    return finish(std::move(dot), {lhs, rhs}, read_signature(in_));
  }
  void axes_pair(Axes& lhs, Axes& rhs) {
    in_.expect("=");
    lhs = in_.numbers();
    in_.expect("x");
    rhs = in_.numbers();
  }

  // "<{key = …, key = …}>" or, where attributes were once written, "{key = …}". `one` reads what
  // follows the equals sign, or fails.
  template <typename Read>
  void attributes(std::string_view open, std::string_view close, Read one) {
    in_.expect(open);
    do {
      const std::string_view key = in_.take(TokenKind::word, "an attribute");
      in_.expect("=");
      if (in_.ok()) one(key);
    } while (in_.take_if(","));
    in_.expect(close);
  }
  template <typename Read>
  void properties(Read one) {
    in_.expect("<");
    attributes("{", "}", one);
    in_.expect(">");
  }
  void unknown_attribute(std::string_view key) {
    in_.fail(fmt::format("attribute '{}' is not supported", key.substr(0, 60)));
  }

  Value gather() {
    const std::vector<Value> inputs = bracketed_operands(2);
    if (!in_.ok()) return {};
    const auto rank = static_cast<std::int64_t>(type(inputs[1]).shape.size());
    bool has_numbers = false;
    Axes sizes;
    const auto one = [&](std::string_view key) {
      if (key == "dimension_numbers") {
        in_.expect("#stablehlo.gather");
        attributes("<", ">", [&](std::string_view inner) { gather_number(inner, rank); });
        has_numbers = true;
      } else if (key == "slice_sizes") {
        sizes = in_.sizes_array();
      } else if (key == "indices_are_sorted") {
        in_.expect("false");
      } else {
        unknown_attribute(key);
      }
    };
    if (in_.at("<")) {
      properties(one);
    } else {
      attributes("{", "}", one);
    }
    const Type& table = type(inputs[0]);
    const bool whole_rows =
        has_numbers && table.shape.size() == 2 && sizes == Axes{1, table.shape[1]};
    if (!whole_rows) in_.fail("a gather of other than whole rows is not supported");
    return finish(op::GatherRows{}, inputs, read_signature(in_));
  }
  // What is left out is taken to be what it has to be.
  void gather_number(std::string_view key, std::int64_t rank) {
    bool right = false;
    if (key == "offset_dims") {
      right = in_.numbers() == Axes{rank};
    } else if (key == "collapsed_slice_dims" || key == "start_index_map") {
      right = in_.numbers() == Axes{0};
    } else if (key == "index_vector_dim") {
      right = in_.whole() == rank;
    } else {
      return unknown_attribute(key);
    }
    if (!right) in_.fail("a gather of other than whole rows is not supported");
  }

  Value all_reduce() {
    const std::vector<Value> inputs = bracketed_operands(1);
    std::optional<op::AllReduce> sum;
    const auto one = [&](std::string_view key) {
      if (key != "replica_groups") return unknown_attribute(key);
      sum = replica_groups();
    };
    if (in_.at("<")) properties(one);
    in_.expect("(");
    in_.expect("{");
    sum_region();
    in_.expect("}");
    in_.expect(")");
    if (in_.at("{")) attributes("{", "}", one);
    if (!sum) in_.fail("expected replica_groups");
    return finish(sum.value_or(op::AllReduce{}), inputs, read_signature(in_));
  }
  // "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"
  op::AllReduce replica_groups() {
    in_.expect("dense");
    in_.expect("<");
    in_.expect("[");
    std::vector<Axes> groups{in_.numbers()};
    while (in_.ok() && in_.take_if(",")) groups.push_back(in_.numbers());
    in_.expect("]");
    in_.expect(">");
    in_.expect(":");
    const Axes& first = groups.front();
    // The first group begins with device 0.
    op::AllReduce sum{static_cast<std::int64_t>(first.size()), first.size() > 1 ? first[1] : 1};
    in_.expect(fmt::format("tensor<{}x{}xi64>", groups.size(), sum.devices));
    if (!in_.ok()) return sum;
    const bool known = sum.devices > 0 && sum.stride > 0 && sum.stride <= replicas_ &&
                       sum.devices <= replicas_ && replicas_ % (sum.devices * sum.stride) == 0 &&
                       groups == graph::groups_of(sum, replicas_);
    if (!known) in_.fail("a sum over such groups of replicas is not supported");
    return sum;
  }
  // "^bb0(%a: t, %b: t): %c = stablehlo.add %a, %b : t  stablehlo.return %c : t"
  void sum_region() {
    in_.take(TokenKind::block, "a block, such as ^bb0");
    in_.expect("(");
    const std::string_view a = scalar_argument();
    in_.expect(",");
    const std::string_view b = scalar_argument();
    in_.expect(")");
    in_.expect(":");
    const std::string_view sum = in_.take(TokenKind::value, "a value");
    in_.expect("=");
    in_.expect("stablehlo.add");
    in_.expect(a);
    in_.expect(",");
    in_.expect(b);
    in_.expect(":");
    in_.expect("tensor<f32>");
    in_.expect("stablehlo.return");
    in_.expect(sum);
    in_.expect(":");
    in_.expect("tensor<f32>");
    if (in_.ok() && (a == b || a == sum || b == sum)) in_.fail("a value is named twice");
  }
  std::string_view scalar_argument() {
    const std::string_view name = in_.take(TokenKind::value, "a value");
    in_.expect(":");
    in_.expect("tensor<f32>");
    return name;
  }

  Cursor& in_;
  Scope& scope_;
  std::int64_t replicas_;
};

}  // namespace

void read_operation(Cursor& in, Scope& scope, std::int64_t replicas) {
  Operation(in, scope, replicas).read();
}

}  // namespace trainward::stablehlo
