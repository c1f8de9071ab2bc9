// Findings of judges and report readers against a board or a chip, before they become a verdict.
#pragma once

#include <vector>

#include "hwprobe/report/report.hpp"

namespace trainward::hwprobe {

struct Finding {
  Verdict verdict = Verdict::ok;
  Evidence evidence;
};
using Findings = std::vector<Finding>;

// Adds findings about one chip to it and to its board: the worst verdict wins, evidence stays worst
// first. A chip that was not examined before counts as examined from now on.
void add_findings(Board& board, Chip& chip, std::vector<Finding> findings);

}  // namespace trainward::hwprobe
