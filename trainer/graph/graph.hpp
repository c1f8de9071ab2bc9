// A static computation: nodes in topological order (inputs before users), each with a known type.
//
// Plain data, owned by value. Built by Builder, which checks every node; read by the passes, the
// printer and the executors, which may rely on that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/graph/op.hpp"

namespace trainward::graph {

// A node's result, by position in its graph; -1 means none.
struct Value {
  std::int32_t id = -1;

  [[nodiscard]] bool valid() const { return id >= 0; }
  [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(id); }
  friend bool operator==(const Value&, const Value&) = default;
  friend bool operator<(const Value& a, const Value& b) { return a.id < b.id; }
};

struct Node {
  Op op;
  std::vector<Value> inputs;
  Type type;
  bool held = false;  // differentiation takes the value as a constant
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Value> parameters;  // in the order the caller passes buffers
  std::vector<Value> outputs;

  [[nodiscard]] const Node& node(Value value) const { return nodes[value.index()]; }
  [[nodiscard]] const Type& type(Value value) const { return nodes[value.index()].type; }
};

}  // namespace trainward::graph
