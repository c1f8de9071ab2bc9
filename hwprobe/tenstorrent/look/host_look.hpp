// The boards of this host, of a simulator or of a recording, through the stages; and the report
// that follows.
//
//   look (children, may be killed) ──> BoardLook of each board ──> report_of (pure)
//                                           └──> a recording ──┘
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "hwprobe/report/report.hpp"
#include "hwprobe/tenstorrent/look/probe_stage.hpp"

namespace trainward::hwprobe {

// Recorded like boards, but not boards.
inline constexpr std::string_view bus_look = "bus";
inline constexpr std::string_view tt_smi_look = "tt-smi";

bool is_board(const BoardLook& look);

// The stages of a board, in their order.
std::vector<ProbeStage> probe_stages(const HostOptions& options);

// The bus first, as the board "bus", then every board found on it.
std::vector<BoardLook> look_at_host(const HostOptions& options,
                                    const std::vector<ProbeStage>& stages, Processes& processes);

// `source` is what the report names as its source. An error: not even the bus could be listed.
Result<Report> report_of(const std::vector<BoardLook>& looks, const std::vector<ProbeStage>& stages,
                         std::string source);

}  // namespace trainward::hwprobe
