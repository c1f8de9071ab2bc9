// What a look at the hardware found: boards, chips, links, and a verdict with its evidence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::hwprobe {

// Worst last; a board's verdict is the worst of its chips' and links'.
enum class Verdict {
  ok,
  busy,      // held by another process: not a fault
  unknown,   // could not be read
  degraded,  // usable, but something is worse than it should be
  hot,
  resetting,
  remote_lost,  // both on-board Ethernet links down: the R chip cannot be reached
  dram_bad,
  arc_dead,
  noc_hung,
  bus_hung,
  stuck_in_kernel,
  off_bus,
  no_driver,
  absent,
};

std::string_view to_string(Verdict verdict);  // "OK", "REMOTE_LOST", …
bool usable(Verdict verdict);                 // a run may be placed on it: ok and degraded

struct Evidence {
  std::string what;    // in words a person understands: "on-board link 8 is down (training failed)"
  std::string advice;  // what to do about it; may be empty
};

struct Chip {
  std::string id;  // "L", "R"
  Verdict verdict = Verdict::unknown;
  std::string confidence;  // "full", "link level only", "described"
  double temperature_c = 0;
  std::vector<Evidence> evidence;
};

struct Link {
  std::string from;  // "L:8"
  std::string to;    // "R:0"
  bool up = false;
  std::int64_t retrains = 0;
};

struct Board {
  std::string serial;  // 16 hex digits
  std::string type;    // "n300"
  std::string bus_id;  // "0000:c1:00.0"
  Verdict verdict = Verdict::unknown;
  std::vector<Chip> chips;
  std::vector<Link> links;
  std::vector<Evidence> evidence;     // why the verdict, worst first
  std::vector<std::int64_t> holders;  // processes that have it open, as far as they can be seen
  json::object simulate;  // described hosts only: handed to the worker's simulated device
};

struct Report {
  std::string source;  // "sysfs", "described"
  std::vector<Board> boards;
  std::vector<Evidence> evidence;  // about the host: no driver, nothing found
};

json::object to_json(const Report& report);
Result<Report> report_from_json(const json::value& value);

}  // namespace trainward::hwprobe
