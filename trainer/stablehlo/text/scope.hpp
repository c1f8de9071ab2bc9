// The values a function has named so far, and the graph they build.
//
// A constant enters the graph where it is first read: what only says where a reduction starts, or
// what is padded with, never does.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "trainer/graph/builder.hpp"
#include "trainer/stablehlo/text/cursor.hpp"

namespace trainward::stablehlo {

class Scope {
 public:
  explicit Scope(Cursor& in) : in_(in) {}

  // Each fails the cursor when the name is taken, or there is no such value.
  void name(std::string_view name, graph::Value value);
  void name(std::string_view name, graph::op::Constant constant);
  graph::Value value();  // takes "%3"
  double scalar();  // takes "%cst" too: a constant of f32 and rank 0, which is not read by that

  // A node of the operation; what the graph refuses fails the cursor.
  graph::Value append(graph::Op op, std::vector<graph::Value> inputs);

  [[nodiscard]] const graph::Builder& builder() const { return builder_; }

 private:
  struct Entry {
    graph::Value value;
    std::optional<graph::op::Constant> constant;
  };
  void enter(std::string_view name, Entry entry);
  Entry* find();

  Cursor& in_;
  graph::Builder builder_;
  std::unordered_map<std::string_view, Entry> names_;
};

}  // namespace trainward::stablehlo
