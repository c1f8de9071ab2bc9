// What judges and readers of somebody else's report have against a board or a chip, on its way to a
// verdict.
#pragma once

#include <vector>

#include "hwprobe/report.hpp"

namespace trainward::hwprobe {

struct Finding {
  Verdict verdict = Verdict::ok;
  Evidence evidence;
};
using Findings = std::vector<Finding>;

// Adds findings about one chip to it and to its board: the worst verdict wins, evidence stays worst
// first. A chip nobody had looked at counts as looked at from now on.
void add_findings(Board& board, Chip& chip, std::vector<Finding> findings);

}  // namespace trainward::hwprobe
