// What a reader of somebody else's report has against a chip, on its way to a verdict.
#pragma once

#include <vector>

#include "hwprobe/findings.hpp"

namespace trainward::hwprobe {

// Adds findings about one chip to it and to its board: the worst verdict wins, evidence stays worst
// first. A chip nobody had looked at counts as looked at from now on.
void add_findings(Board& board, Chip& chip, std::vector<Finding> findings);

}  // namespace trainward::hwprobe
