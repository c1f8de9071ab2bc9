// What judges found: the parts of verdict.cpp, each a pure function from facts to findings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hwprobe/report/finding.hpp"
#include "hwprobe/tenstorrent/decode/facts.hpp"

namespace trainward::hwprobe {

// Why nothing else about the board can be said or matters; nothing when it can be reached.
std::optional<Finding> judge_reach(const BoardFacts& facts);
// The board as a whole: holders, firmware, PCIe.
Findings judge_board(const BoardFacts& facts);
Findings judge_links(const BoardFacts& facts);
// The first finding of judge_links is then that chip R cannot be reached.
bool remote_unreachable(const BoardFacts& facts);
Findings judge_chip(const ChipFacts& chip, const BoardFacts& board);

// After a reset, telemetry takes up to two minutes to come back and links up to three: until then
// what is missing is no fault.
bool telemetry_may_be_missing(const BoardFacts& facts);
bool links_may_be_down(const BoardFacts& facts);

}  // namespace trainward::hwprobe
