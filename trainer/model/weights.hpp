// The weights of one segment as values of its graph, by name.
//
// A name that is not there is an error of the builder (kind usage), so that an architecture reads
// like its formula. Borrows the builder.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/graph/builder.hpp"
#include "trainer/model/parameters.hpp"

namespace trainward::trainer {

class Weights {
 public:
  using Named = std::vector<std::pair<std::string, graph::Value>>;
  Weights(graph::Builder& builder, Named named) : builder_(&builder), named_(std::move(named)) {}

  // Makes a parameter of the graph of each of these, in that order.
  static Weights add(graph::Builder& builder, const ParameterTable& table, const Places& which);

  // By the name behind the layer's prefix (ParameterInfo::local_name).
  graph::Value operator[](std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const;
  [[nodiscard]] std::vector<graph::Value> values() const;  // in order

 private:
  graph::Builder* builder_;
  Named named_;
};

}  // namespace trainward::trainer
