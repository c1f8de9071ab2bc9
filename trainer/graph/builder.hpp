// Builds a graph node by node, inferring and checking types.
//
// The first error sticks: from then on every call returns an invalid Value, and finish() returns
// that error. Model code therefore reads like the formula it is. Not copyable; one thread.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "common/base/error.hpp"
#include "trainer/graph/graph.hpp"

namespace trainward::graph {

class Builder {
 public:
  Builder() = default;
  // dot() makes products of that precision. `columns`: neighbouring devices that share weights, for
  // sum_columns().
  explicit Builder(Precision products, std::int64_t columns = 1)
      : products_(products), columns_(columns) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  Builder(Builder&&) = delete;
  Builder& operator=(Builder&&) = delete;
  ~Builder() = default;

  // Any operation; the named ones below are shorthands.
  Value append(Op op, std::vector<Value> inputs);

  Value parameter(std::string name, Type type);
  Value constant(double value, const Type& type);
  Value constant_like(double value, Value like);
  Value iota(const Type& type, std::int64_t axis);

  Value neg(Value a);
  Value exp(Value a);
  Value log(Value a);
  Value sqrt(Value a);
  Value rsqrt(Value a);
  Value tanh(Value a);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value max(Value a, Value b);
  Value bit_and(Value a, Value b);
  Value bit_or(Value a, Value b);
  Value bit_xor(Value a, Value b);
  Value shift_right(Value a, Value count);  // logical: zeros come in from the left
  Value scale(Value a, double factor);
  Value compare(Direction direction, Value a, Value b);
  Value select(Value predicate, Value on_true, Value on_false);
  Value convert(Value a, Element element);

  Value sum(Value a, Axes axes);
  Value maximum(Value a, Axes axes);
  Value broadcast(Value a, Axes axes, Shape shape);
  Value reshape(Value a, Shape shape);
  Value transpose(Value a, Axes permutation);
  Value slice(Value a, Axes start, Axes limit);
  Value pad(Value a, Axes low, Axes high);
  Value concatenate(std::vector<Value> parts, std::int64_t axis);
  [[nodiscard]] Precision products() const { return products_; }
  Value dot(Value lhs, Value rhs, op::DotGeneral dimensions);  // in the builder's precision
  Value gather_rows(Value table, Value ids);
  Value scatter_add_rows(Value ids, Value updates, std::int64_t rows);

  Value all_reduce(Value a, op::AllReduce over);
  // What the devices of a row made of it, each with its share of the weights, added up.
  Value sum_columns(Value a);
  [[nodiscard]] std::int64_t columns() const { return columns_; }

  // The same value, as a constant for differentiate(). Every later use must go through the result.
  Value hold(Value a);

  // Types of valid values; a scalar f32 for an invalid one, so that callers need not ask.
  [[nodiscard]] const Type& type(Value value) const;
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  void set_error(Error error);  // the first one stays

  // The graph so far with these outputs; the builder stays usable.
  [[nodiscard]] Result<Graph> finish(std::span<const Value> outputs) const;

 private:
  Graph graph_;
  std::optional<Error> error_;
  Type scalar_;
  Precision products_ = Precision::f32;
  std::int64_t columns_ = 1;
};

}  // namespace trainward::graph
