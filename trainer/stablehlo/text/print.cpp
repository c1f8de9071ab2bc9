#include "trainer/stablehlo/text/print.hpp"

#include <fmt/ranges.h>

#include <limits>
#include <map>
#include <numeric>

#include "trainer/stablehlo/counts.hpp"
#include "trainer/stablehlo/cudnn_attention.hpp"
#include "trainer/stablehlo/text/literal.hpp"

namespace trainward::stablehlo {
namespace {

namespace op = graph::op;
using graph::Axes;
using graph::Element;
using graph::Graph;
using graph::Node;
using graph::Type;
using graph::Value;

std::string tensor(const Type& type) {
  std::string text = "tensor<";
  for (const std::int64_t size : type.shape) text += fmt::format("{}x", size);
  return text + std::string(element_name(type.element)) + ">";
}

std::string list(const Axes& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

// Writes the body, a line an operation. Constants come first where they are first read.
class Body {
 public:
  explicit Body(const Module& module) : module_(module), graph_(module.graph) {
    names_.resize(graph_.nodes.size());
    for (std::size_t k = 0; k < graph_.parameters.size(); ++k) {
      names_[graph_.parameters[k].index()] = fmt::format("%arg{}", k);
    }
  }

  Result<std::string> write() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (!names_[i].empty() || std::holds_alternative<op::Constant>(node.op)) continue;
      node_ = &node;
      for (const Value input : node.inputs) read(input);
      const std::string operation = std::visit(*this, node.op);
      if (!wrong_.empty()) {
        return fail(ErrorKind::usage,
                    fmt::format("{}: {} (node %{})", graph::name_of(node.op), wrong_, i));
      }
      // Of an operation that is there already, a name.
      names_[i] = operation.starts_with('%') ? operation : put(operation);
    }
    for (const Value output : graph_.outputs) read(output);
    write_return();
    return std::move(text_);
  }

  std::string operator()(const op::Parameter&) { return refuse("is not among the parameters"); }
  std::string operator()(const op::Constant&) { return {}; }
  std::string operator()(const op::Iota& iota) {
    if (iota.type.element == Element::pred) return refuse("StableHLO counts in numbers only");
    return fmt::format("stablehlo.iota dim = {} : {}", iota.axis, tensor(iota.type));
  }
  std::string operator()(const op::Unary&) { return alike(); }
  std::string operator()(const op::Binary& binary) {
    if (binary.kind == graph::BinaryKind::shift_right_logical &&
        !is_short_count(graph_, node_->inputs[1])) {
      return refuse("a count may be 32 or more");
    }
    return alike();
  }
  std::string operator()(const op::Compare& compare) {
    const std::string direction =
        graph::attributes_of(compare).substr(std::string_view("direction=").size());
    return fmt::format("stablehlo.compare {}, {}, {}, {} : {}", direction, input(0), input(1),
                       comparison_of(type(0).element), signature());
  }
  std::string operator()(const op::Select&) {
    return fmt::format("stablehlo.select {} : {}, {}", inputs(), tensor(type(0)),
                       tensor(node_->type));
  }
  std::string operator()(const op::Convert&) {
    return type(0) == node_->type ? alike() : moved("");
  }
  std::string operator()(const op::Reduce& reduce) {
    const bool sum = reduce.kind == graph::ReduceKind::sum;
    const Type scalar{type(0).element, {}};
    const std::string start = constant(sum ? 0 : -std::numeric_limits<double>::infinity(), scalar);
    return fmt::format(
        "stablehlo.reduce({} init: {}) applies stablehlo.{} across dimensions = {} : ({}, {}) -> "
        "{}",
        input(0), start, sum ? "add" : "maximum", list(reduce.axes), tensor(type(0)),
        tensor(scalar), tensor(node_->type));
  }
  std::string operator()(const op::Broadcast& broadcast) {
    return moved(", dims = " + list(broadcast.axes));
  }
  std::string operator()(const op::Reshape&) { return moved(""); }
  std::string operator()(const op::Transpose& transpose) {
    return moved(", dims = " + list(transpose.permutation));
  }
  std::string operator()(const op::Slice& slice) {
    std::vector<std::string> ranges;
    ranges.reserve(slice.start.size());
    for (std::size_t i = 0; i < slice.start.size(); ++i) {
      ranges.push_back(fmt::format("{}:{}", slice.start[i], slice.limit[i]));
    }
    return moved(fmt::format(" [{}]", fmt::join(ranges, ", ")));
  }
  std::string operator()(const op::Pad& pad) {
    const Type scalar{type(0).element, {}};
    const std::string zero = constant(0, scalar);
    return fmt::format("stablehlo.pad {}, {}, low = {}, high = {}, interior = {} : ({}, {}) -> {}",
                       input(0), zero, list(pad.low), list(pad.high), list(Axes(pad.low.size(), 0)),
                       tensor(type(0)), tensor(scalar), tensor(node_->type));
  }
  std::string operator()(const op::Concatenate& concatenate) {
    return moved(fmt::format(", dim = {}", concatenate.axis));
  }
  std::string operator()(const op::DotGeneral& dot) {
    if (dot.precision == graph::Precision::bf16 && type(0).element == Element::f32) {
      return refuse("rounds its operands; round_operands() says how");
    }
    const std::string batch =
        dot.lhs_batch.empty()
            ? ""
            : fmt::format(", batching_dims = {} x {}", list(dot.lhs_batch), list(dot.rhs_batch));
    const bool full = module_.full_precision && type(0).element == Element::f32;
    return moved(fmt::format("{}, contracting_dims = {} x {}{}", batch, list(dot.lhs_contract),
                             list(dot.rhs_contract),
                             full ? ", precision = [HIGHEST, HIGHEST]" : ""));
  }
  std::string operator()(const op::GatherRows&) {
    const std::size_t rank = type(1).shape.size();
    return fmt::format(
        "\"stablehlo.gather\"({}) <{{dimension_numbers = #stablehlo.gather<offset_dims = [{}], "
        "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = {}>, "
        "indices_are_sorted = false, slice_sizes = array<i64: 1, {}>}}> : {}",
        inputs(), rank, rank, type(0).shape[1], signature());
  }
  // Into zeros. parse() does not read it back: what is made for tiles has none.
  std::string operator()(const op::ScatterAddRows&) {
    const std::size_t rank = type(0).shape.size();
    const std::string scalar = tensor({node_->type.element, {}});
    return fmt::format(
        "\"stablehlo.scatter\"({0}, {1}) <{{indices_are_sorted = false, scatter_dimension_numbers "
        "= #stablehlo.scatter<update_window_dims = [{2}], inserted_window_dims = [0], "
        "scatter_dims_to_operand_dims = [0], index_vector_dim = {2}>, unique_indices = false}}> "
        "({{\n"
        "    ^bb0(%lhs: {3}, %rhs: {3}):\n"
        "      %sum = stablehlo.add %lhs, %rhs : {3}\n"
        "      stablehlo.return %sum : {3}\n"
        "    }}) : ({4}, {5}, {6}) -> {4}",
        constant(0, node_->type), inputs(), rank, scalar, tensor(node_->type), tensor(type(0)),
        tensor(type(1)));
  }
  std::string operator()(const op::AllReduce& sum) {
    if (module_.replicas % (sum.devices * sum.stride) != 0) {
      return refuse(fmt::format("is over {} devices in a program of {} replicas",
                                sum.devices * sum.stride, module_.replicas));
    }
    std::vector<std::string> groups;
    for (const std::vector<std::int64_t>& group : graph::groups_of(sum, module_.replicas)) {
      groups.push_back(list(group));
    }
    const std::string scalar = tensor({node_->type.element, {}});
    return fmt::format(
        "\"stablehlo.all_reduce\"({0}) <{{replica_groups = dense<[{1}]> : tensor<{5}x{2}xi64>}}> "
        "({{\n"
        "    ^bb0(%lhs: {3}, %rhs: {3}):\n"
        "      %sum = stablehlo.add %lhs, %rhs : {3}\n"
        "      stablehlo.return %sum : {3}\n"
        "    }}) : {4}",
        input(0), fmt::join(groups, ", "), sum.devices, scalar, signature(), groups.size());
  }
  std::string operator()(const op::Attention& attention) {
    if (!is_of_cudnn(3)) return refuse("cuDNN has it of bf16 and of whole rows alone");
    const std::string call =
        put_once(cudnn_attention(inputs(), attention.scale, type(0).shape, type(1).shape), 3);
    if (attention.result == graph::AttentionResult::statistics) return call + "#1";
    return positions_before_heads(call + "#0");
  }
  std::string operator()(const op::AttentionGradient& gradient) {
    if (!is_of_cudnn(6)) return refuse("cuDNN has it of bf16 and of whole rows alone");
    const std::string operands = fmt::format("{}, {}, {}, {}, {}, {}", input(0), input(1), input(2),
                                             input(3), input(5), input(4));
    const std::string call = put_once(
        cudnn_attention_backward(operands, gradient.scale, type(0).shape, type(1).shape), 4);
    return positions_before_heads(fmt::format("{}#{}", call, gradient.input));
  }

 private:
  [[nodiscard]] const Type& type(std::size_t k) const { return graph_.type(node_->inputs[k]); }
  // Attention, with so many inputs without segments.
  [[nodiscard]] bool is_of_cudnn(std::size_t inputs) const {
    return node_->inputs.size() == inputs && type(0).element == graph::Element::bf16 &&
           type(2).shape[3] == type(0).shape[3];
  }
  [[nodiscard]] const std::string& input(std::size_t k) const {
    return names_[node_->inputs[k].index()];
  }
  [[nodiscard]] std::string inputs() const {
    std::string text;
    for (std::size_t k = 0; k < node_->inputs.size(); ++k) text += (k > 0 ? ", " : "") + input(k);
    return text;
  }
  [[nodiscard]] std::string signature() const {
    std::string text = "(";
    for (std::size_t k = 0; k < node_->inputs.size(); ++k) {
      text += (k > 0 ? ", " : "") + tensor(type(k));
    }
    return text + ") -> " + tensor(node_->type);
  }
  // Operands and result are of one type.
  [[nodiscard]] std::string alike() const {
    return fmt::format("stablehlo.{} {} : {}", graph::name_of(node_->op), inputs(),
                       tensor(node_->type));
  }
  [[nodiscard]] std::string moved(std::string_view attributes) const {
    return fmt::format("stablehlo.{} {}{} : {}", graph::name_of(node_->op), inputs(), attributes,
                       signature());
  }
  std::string refuse(std::string_view why) {
    wrong_ = why;
    return {};
  }

  // What cuDNN gives lies in memory like q already, so this moves nothing.
  [[nodiscard]] std::string positions_before_heads(std::string_view value) const {
    const graph::Shape& q = node_->type.shape;
    return fmt::format("stablehlo.transpose {}, dims = [0, 2, 1, 3] : ({}) -> {}", value,
                       tensor({Element::bf16, {q[0], q[2], q[1], q[3]}}), tensor(node_->type));
  }

  // One operation for all nodes that take a result of it.
  std::string put_once(const std::string& operation, int results) {
    const auto [known, is_new] = known_.try_emplace(operation);
    if (is_new) {
      known->second = fmt::format("%{}", next_++);
      text_ += fmt::format("    {}:{} = {}\n", known->second, results, operation);
    }
    return known->second;
  }
  std::string put(std::string_view operation) {
    std::string name = fmt::format("%{}", next_++);
    text_ += fmt::format("    {} = {}\n", name, operation);
    return name;
  }
  std::string constant(double value, const Type& type) {
    const std::string operation = fmt::format("stablehlo.constant dense<{}> : {}",
                                              literal(value, type.element), tensor(type));
    const auto [known, is_new] = known_.try_emplace(operation);
    if (is_new) known->second = put(operation);
    return known->second;
  }
  // Writes `value` when it is a constant not written yet.
  void read(Value value) {
    const auto* found = std::get_if<op::Constant>(&graph_.node(value).op);
    if (found != nullptr) names_[value.index()] = constant(found->value, found->type);
  }
  void write_return() {
    std::vector<std::string> names;
    std::vector<std::string> types;
    names.reserve(graph_.outputs.size());
    types.reserve(graph_.outputs.size());
    for (const Value output : graph_.outputs) {
      names.push_back(names_[output.index()]);
      types.push_back(tensor(graph_.type(output)));
    }
    text_ += names.empty() ? "    return\n"
                           : fmt::format("    return {} : {}\n", fmt::join(names, ", "),
                                         fmt::join(types, ", "));
  }

  const Module& module_;
  const Graph& graph_;
  const Node* node_ = nullptr;
  std::vector<std::string> names_;
  std::map<std::string, std::string> known_;  // constants and calls, by what was written
  std::string text_;
  std::string wrong_;
  int next_ = 0;
};

// Per parameter the output that takes over its buffer.
Result<std::vector<std::optional<std::size_t>>> taken_over(const Module& module) {
  const Graph& graph = module.graph;
  std::vector<std::optional<std::size_t>> by(graph.parameters.size());
  if (module.reuses.empty()) return by;
  if (module.reuses.size() != graph.outputs.size()) {
    return fail(ErrorKind::usage, "a module says for each output what it reuses, or for none");
  }
  for (std::size_t k = 0; k < module.reuses.size(); ++k) {
    const std::optional<std::size_t> from = module.reuses[k];
    if (!from) continue;
    if (*from >= by.size() || by[*from] ||
        graph.type(graph.parameters[*from]) != graph.type(graph.outputs[k])) {
      return fail(ErrorKind::usage, fmt::format("output {} cannot reuse parameter {}", k, *from));
    }
    by[*from] = k;
  }
  return by;
}

std::string head(const Module& module, const std::vector<std::optional<std::size_t>>& taken_by) {
  const Graph& graph = module.graph;
  std::vector<std::string> parameters;
  parameters.reserve(graph.parameters.size());
  for (std::size_t k = 0; k < graph.parameters.size(); ++k) {
    parameters.push_back(fmt::format("%arg{}: {}", k, tensor(graph.type(graph.parameters[k]))));
    if (taken_by[k])
      parameters.back() += fmt::format(" {{tf.aliasing_output = {} : i32}}", *taken_by[k]);
  }
  std::vector<std::string> results;
  results.reserve(graph.outputs.size());
  for (const Value output : graph.outputs) results.push_back(tensor(graph.type(output)));
  return fmt::format(
      "module @{} attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = {} : i32}} {{\n"
      "  func.func public @main({}) -> ({}) {{\n",
      module.name, module.replicas, fmt::join(parameters, ", "), fmt::join(results, ", "));
}

}  // namespace

Result<std::string> print(const Module& module) {
  if (!is_module_name(module.name)) {
    return fail(ErrorKind::usage, fmt::format("'{}' is no name of a module", module.name));
  }
  if (module.replicas < 1) return fail(ErrorKind::usage, "a module is run by one device or more");
  const auto taken_by = taken_over(module);
  if (!taken_by) return tl::unexpected<Error>(taken_by.error());
  Result<std::string> body = Body(module).write();
  if (!body) return body;
  return head(module, *taken_by) + *body + "  }\n}\n";
}

}  // namespace trainward::stablehlo
