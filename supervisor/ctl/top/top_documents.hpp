// The API's documents, read into the screen's model. Pure.
//
// What is missing, mistyped or from another release is left out; nothing of it is a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/ctl/top/model.hpp"

namespace trainward::ctl::top {

struct Documents {
  std::int64_t now_ms = 0;  // of the wall clock
  bool ascii = false;       // the terminal knows nothing else
  Origin origin = Origin::nothing;
  std::string trouble;
  json::array programs;
  std::string selected;
  json::object curve;                                         // of the selected program
  std::vector<std::pair<std::string, json::object>> ledgers;  // by the name of their window, that
                                                              // of the run first
  json::array boards;
  json::array events;
  Log log;
  std::map<std::string, json::object> recent;  // the newest steps of programs that run: curves
};

using TimeText = std::function<std::string(std::int64_t wall_ms)>;  // as people read it

Curve curve_of(const json::object& document);
Snapshot snapshot_of(const Documents& documents, const TimeText& time_text);

}  // namespace trainward::ctl::top
