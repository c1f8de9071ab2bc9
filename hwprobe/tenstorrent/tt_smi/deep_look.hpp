// What tt-smi says about unused boards. It is the one way to ask chip R itself, and it
// writes to the board to do so: only on request, and only where no process has a board open.
//
// In: looks at the boards, finished. Out: one more look, as "tt-smi", whose only stage tells what
// tt-smi printed, or why it was not asked. It takes 120 s at most.
#pragma once

#include <vector>

#include "hwprobe/tenstorrent/look/host_look.hpp"

namespace trainward::hwprobe {

BoardLook look_through_tt_smi(const std::vector<BoardLook>& looks,
                              const std::vector<ProbeStage>& stages, const HostOptions& options,
                              Processes& processes);

// Adds what such a look says to the report on the same boards: chip R's own state, by serial
// number; or, as evidence on the host, why it is missing. Does nothing without such a look.
// Pure.
void add_tt_smi(const std::vector<BoardLook>& looks, Report& report);

}  // namespace trainward::hwprobe
