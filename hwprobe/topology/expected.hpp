// What a host is expected to have: boards with their chips, and the cables between them.
//
// In: an expectation, such as a cluster descriptor (hwprobe/formats/cluster_descriptor.hpp) holds.
// Out: a report in which every board that is not there is ABSENT, every chip that is not there is
// named, and every cable that is known to be down counts as a fault. What was not examined is
// never a fault: a cable that the report does not mention is left out. Pure.
#pragma once

#include <string>
#include <vector>

#include "hwprobe/report/report.hpp"

namespace trainward::hwprobe {

struct ExpectedBoard {
  std::string serial;  // 16 hex digits
  std::string type;    // "n300"
  std::string bus_id;  // may be empty
  std::vector<std::string> chips;
};

struct Expected {
  std::vector<ExpectedBoard> boards;
  std::vector<Link> links;  // ends with their board: "010001451170c0c4/L:8"; up and retrains unused
};

// Boards are matched by serial number, whatever case its digits have.
void apply_expected(Report& report, const Expected& expected);

}  // namespace trainward::hwprobe
