// Which boards a program that needs several linked chips is to have. Pure.
//
// In: a report, the shape, what else waits for a place on this host, and what is known of each
// board's past and present. Out: the chips row by row ("010001451170c0c4/L") and their boards in
// the order of the first chip of each. Chips, links and preferences are those of
// hwprobe/topology/place.hpp; boards in quarantine are not used. GPUs of one host reach each other
// over PCIe or NVLink, which nvidia-smi does not list: they are all linked.
// Errors: kind permanent (the host has no such mesh; what is missing is named), transient (what is
// missing is only held by others), usage (an impossible shape).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "hwprobe/report/report.hpp"
#include "supervisor/config/config.hpp"

namespace trainward::daemon {

struct BoardPast {
  std::string barred;       // "in quarantine until …"; empty: it is not
  bool taken = false;       // another program works on it
  std::int64_t stains = 0;  // of two boards the one with fewer is preferred
  bool ours = false;        // used by this program itself, so it counts as free
};
using BoardPasts = std::map<std::string, BoardPast, std::less<>>;  // by serial number

struct MeshWish {
  config::Mesh mesh;
  std::vector<config::Mesh> others;  // of programs that wait as well: room is left for them
};

struct MeshPlace {
  config::Mesh mesh;
  std::vector<std::string> chips;
  std::vector<std::string> boards;  // serial numbers
  std::vector<std::string> pairs;   // neighbours, by the names and connectors of their links
  std::int64_t links = 0;           // between all of them
};

// Boards that work and that nobody uses, where links between two of them are down: sorted.
std::vector<std::string> boards_without_links(const hwprobe::Report& report,
                                              const BoardPasts& boards);

Result<MeshPlace> place_mesh(const hwprobe::Report& report, const MeshWish& wish,
                             const BoardPasts& boards);

}  // namespace trainward::daemon
