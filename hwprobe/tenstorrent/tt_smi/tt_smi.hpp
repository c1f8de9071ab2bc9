// A snapshot of tt-smi ("tt-smi -s --snapshot_no_tty"), of any version: what is missing, null,
// renamed or of another type is simply not known.
//
// In: the JSON. Out: a report with source "tt-smi". The entries of one board (L, and R, whose bus
// is "N/A") are paired by their board id. Where several entries with a bus of their own share an id
// (a Galaxy), each is a board, told apart by its bus: "0100035100000000@0000:c1:00.0". An N300
// whose R chip tt-smi does not list has lost it, as tt-smi lists every chip it can reach. One
// snapshot cannot tell whether a heartbeat stands still or a link was retrained. Errors: kind
// corrupt, with what is not as it should be. Bounded: 4 MiB, 64 entries. Source: tt-smi's own
// writer and tests, snapshots of versions 3.0.15 to 3.0.20.
#pragma once

#include <string_view>

#include "common/base/error.hpp"
#include "hwprobe/report/report.hpp"

namespace trainward::hwprobe {

inline constexpr std::size_t max_snapshot_bytes = 4 * 1024 * 1024;

// `where` names the source in errors.
Result<Report> read_tt_smi(std::string_view text, std::string_view where);

}  // namespace trainward::hwprobe
