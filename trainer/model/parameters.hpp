// The parameters of AGILLM-3: names, shapes and their places in one flat array.
//
// Order: the core (embedding, blocks, final layer norm), then the head, each segment of the step in
// one run. Places are multiples of 16 elements; the gaps stay zero. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trainer/graph/type.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

enum class Initial {
  zeros,
  ones,
  normal,      // N(0, 1)
  uniform,     // U(±1/sqrt(fan_in))
  orthogonal,  // orthonormal rows or columns, whichever are fewer
};

struct ParameterInfo {
  std::string name;
  graph::Shape shape;
  Initial initial = Initial::zeros;
  std::int64_t fan_in = 0;
  std::int64_t live_rows = 0;  // rows after these are padding: zero for ever
  std::size_t offset = 0;      // elements into the flat arrays

  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(graph::element_count(shape));
  }
};

// A block's parameters lie one after another.
inline constexpr std::size_t block_parameters = 13;

struct ParameterTable {
  std::vector<ParameterInfo> infos;
  std::size_t elements = 0;    // of a flat array, gaps included
  std::size_t head_begin = 0;  // where the "ar." parameters begin
  std::int64_t count = 0;      // trained numbers: without gaps and padding rows

  bool tied = false;  // the head uses the embedding and has no parameters of its own

  // Places in `infos`, in the order the graphs take them.
  [[nodiscard]] std::size_t embedding() const { return 0; }
  [[nodiscard]] std::vector<std::size_t> block(std::size_t layer) const;
  [[nodiscard]] std::vector<std::size_t> head() const;  // ln.weight, ln.bias, weight, bias?
};

// Gives the parameters their places, in the order given.
ParameterTable lay_out(std::vector<ParameterInfo> parameters);

ParameterTable make_parameter_table(const ModelSpec& spec);

}  // namespace trainward::trainer
