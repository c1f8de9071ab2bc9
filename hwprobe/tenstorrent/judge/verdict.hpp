// From facts to a verdict, with the evidence in words. Pure: no I/O, no clock.
//
// In: what a source saw. Out: a Board whose verdict is the worst of what is known about it; a chip
// nobody looked at is `unknown` itself and does not pull the board down. Nothing known at all makes
// the board unknown. Evidence is ordered worst first.
#pragma once

#include <vector>

#include "hwprobe/report/report.hpp"
#include "hwprobe/tenstorrent/decode/facts.hpp"

namespace trainward::hwprobe {

Board judge(const BoardFacts& facts);

// All boards of a host, which are to run the same firmware.
std::vector<Board> judge_host(std::vector<BoardFacts> host);

}  // namespace trainward::hwprobe
