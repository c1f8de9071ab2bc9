// Cuts a graph where its devices must wait for each other: at every sum over devices.
//
// A stage is what each device computes by itself, and then the sums of its results over all of
// them. Values that later stages need are kept in temporaries; views and what follows from
// constants alone are computed again instead. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trainer/graph/graph.hpp"

namespace trainward::n300 {

// Where a value lives on each device.
struct Place {
  enum class Home { parameter, output, temporary };
  Home home = Home::temporary;
  std::size_t position = 0;  // which of the program's parameters, outputs or temporaries
  friend bool operator==(const Place&, const Place&) = default;
};

// The values at `from` of the devices of a group, added up and stored at `to` on each of them.
struct DeviceSum {
  Place from;
  Place to;
  graph::op::AllReduce over;
  std::int64_t elements = 0;  // f32
};

struct Stage {
  graph::Graph graph;  // no sums over devices in it; may be empty
  std::vector<Place> parameters;
  std::vector<Place> outputs;
  std::vector<DeviceSum> sums;  // after the graph has run on every device
};

struct Copy {
  std::size_t from = 0, to = 0;  // outputs
  std::int64_t elements = 0;
};

struct StagePlan {
  std::vector<Stage> stages;
  std::vector<std::int64_t> temporaries;  // elements of each, of at most four bytes
  std::vector<Copy> copies;               // after the last stage
};

StagePlan plan_stages(const graph::Graph& graph);

}  // namespace trainward::n300
