// The parameters of a model: names, shapes, start values and the places of those that are trained
// in one flat array.
//
// Order: the embedding, the blocks, then what only the head has, each segment of the step in one
// run; then the tables that all blocks read. Places are multiples of 16 elements; the gaps stay
// zero. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/graph/type.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/optim/adamw.hpp"

namespace trainward::trainer {

enum class Initial {
  zeros,
  ones,
  normal,      // N(0, deviation²)
  uniform,     // U(±1/sqrt(fan_in))
  orthogonal,  // orthonormal rows or columns, whichever are fewer
};

// Which of the two learning rates a parameter follows.
enum class RateGroup { body, head };

enum class Role {
  trained,
  frozen,  // read from a model's files, and never changed
  table,   // computed from the sizes, and in no file
};

// How the devices of a row share a parameter (columns.hpp): each has consecutive parts of one axis.
struct Cut {
  std::size_t axis = 0;
  std::string_view parts;       // what they are called: "heads"
  std::int64_t unit = 1;        // places of the axis that stay together
  std::int64_t neighbours = 1;  // tensors side by side along the axis, each of them cut
};

struct ParameterInfo {
  std::string name;
  graph::Shape shape;
  Initial initial = Initial::zeros;
  std::int64_t fan_in = 0;
  std::int64_t live_rows = 0;  // rows after these are padding: zero for ever; 0: all are live
  std::size_t offset = 0;      // elements into the flat arrays, of what is trained
  double deviation = 1;
  RateGroup rate = RateGroup::body;
  std::size_t prefix = 0;  // of the name, up to where a block's own names begin
  Role role = Role::trained;
  bool decays = true;                            // by the optimizer's weight decay
  graph::Element element = graph::Element::f32;  // as it is kept; trained ones are f32
  std::optional<Cut> cut = {};                   // none: each device has all of it

  [[nodiscard]] bool trained() const { return role == Role::trained; }
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(graph::element_count(shape));
  }
  // What the graphs call it: the same for every layer.
  [[nodiscard]] std::string_view local_name() const {
    return std::string_view(name).substr(prefix);
  }
};

// What an architecture says of its parameters; places are given by lay_out().
struct ModelParameters {
  std::vector<ParameterInfo> embedding = {};
  std::string layer_prefix = {};           // with {} for the layer: "h.{}."
  std::vector<ParameterInfo> block = {};   // of one layer, by the names behind the prefix
  std::vector<ParameterInfo> head = {};    // but for what it shares
  std::vector<std::string> shared = {};    // of the embedding, what the head uses too
  std::vector<ParameterInfo> tables = {};  // that every block reads, under these names
};

using Places = std::vector<std::size_t>;  // in ParameterTable::infos

struct ParameterTable {
  std::vector<ParameterInfo> infos;
  std::size_t elements = 0;  // of a flat array, gaps included
  std::int64_t count = 0;    // trained numbers: without gaps and padding rows
  std::int64_t total = 0;    // the same with what is frozen

  // In the order the graphs take them. What both share comes last in both.
  Places embedding;
  Places head;
  std::size_t shared = 0;

  std::size_t first_block = 0;
  std::size_t block_parameters = 0;  // a layer's lie one after another
  Places tables;
  // A layer's own, then the tables.
  [[nodiscard]] Places block(std::size_t layer) const;

  // Of these, what is trained.
  [[nodiscard]] Places trained(Places which) const;
  // What only the head uses.
  [[nodiscard]] Places own_head() const;
  // How many parameters that are trained only the embedding uses.
  [[nodiscard]] std::size_t own_embedding() const;
  // Outside the blocks and trained, in the order of the flat arrays: those of one rate.
  [[nodiscard]] Places outer(RateGroup rate) const;
};

ParameterTable lay_out(const ModelParameters& parameters, std::int64_t layers);

// Of the model's architecture; tables for texts of `positions` tokens.
ParameterTable make_parameter_table(const ModelSpec& spec, std::int64_t positions);

// The runs of the flat arrays that have one learning rate and decay alike, in order: of all
// parameters, or only of those outside the blocks.
enum class RunsOf { everything, outer };
std::vector<optim::Group> rate_runs(const ParameterTable& table, const TrainingSpec& spec,
                                    RunsOf which);

}  // namespace trainward::trainer
