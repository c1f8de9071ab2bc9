// The three policies in the same worlds, side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/decide/sim/parts/score.hpp"
#include "supervisor/decide/sim/parts/setup.hpp"

namespace trainward::sim {

// Means over the seeds.
struct Row {
  std::string policy;
  double steps = 0;     // furthest step finished
  double kept = 0;      // newest step in an intact checkpoint
  double executed = 0;  // replays counted
  double attempts = 0;
  double effective = 0;  // share of the time that went into steps nobody had done before
  std::string thief;     // what took most of the rest
  double thief_share = 0;
};

std::vector<Row> compare(const std::vector<Scenario>& scenarios);
std::string to_table(const std::vector<Row>& rows);
json::array to_json(const std::vector<Row>& rows);

}  // namespace trainward::sim
