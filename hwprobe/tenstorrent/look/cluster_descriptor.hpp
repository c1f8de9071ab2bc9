// A cluster descriptor as tt-umd writes it, read as what a host is expected to have.
//
// In: the YAML. Out: its boards with their chips (of a board with two, L is the one on the bus and
// R the other; of larger ones each is called by its place on the board), and the links between
// chips. Links to other hosts are counted, not kept. Keys that are not needed are not looked at.
// Errors: kind corrupt with the place, "file:12:3". Bounded: 1 MiB, 64 boards, 64 chips a board,
// 512 links. Source: tt-umd's description of the format and the files it writes.
#pragma once

#include <string_view>

#include "common/base/error.hpp"
#include "hwprobe/topology/expected.hpp"

namespace trainward::hwprobe {

inline constexpr std::size_t max_descriptor_bytes = 1024 * 1024;

struct ClusterDescriptor {
  Expected expected;
  std::size_t links_to_other_hosts = 0;
};

Result<ClusterDescriptor> read_cluster_descriptor(std::string_view text, std::string_view where);

}  // namespace trainward::hwprobe
