// Finds the cheapest way to lay meshes out on a graph, by branch and bound. Pure.
//
// What a layout costs is the sum over its chips, over its pairs of neighbours and over its boards;
// what may not be costs `forbidden`. The same search answers two questions: with broken links
// forbidden, where a program can run; with broken links expensive, what is missing when it cannot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "hwprobe/topology/place.hpp"

namespace trainward::hwprobe {

// Compared in the order of the members.
struct Cost {
  std::int64_t missing = 0;  // weight of what would have to be repaired
  std::int64_t boards = 0;
  std::int64_t faults = 0;
  std::int64_t degraded = 0;

  friend bool operator<(const Cost& a, const Cost& b) {
    return std::tie(a.missing, a.boards, a.faults, a.degraded) <
           std::tie(b.missing, b.boards, b.faults, b.degraded);
  }
};

inline constexpr std::int64_t forbidden = -1;

struct Terrain {
  std::vector<std::size_t> board;               // of each chip
  std::vector<std::int64_t> chip;               // weight of using it, or forbidden
  std::vector<std::vector<std::int64_t>> pair;  // weight of two as neighbours, or forbidden
  std::vector<std::int64_t> faults;             // of each board
  std::vector<bool> degraded;                   // of each board
};

struct Layout {
  std::vector<std::vector<std::size_t>> chips;  // of each mesh, row by row
  Cost cost;
};

struct SearchResult {
  std::optional<Layout> best;
  bool complete = true;  // false: the steps ran out before everything was tried
};

// No two meshes share a board. At most max_chips chips.
SearchResult search_meshes(const Terrain& terrain, std::span<const MeshShape> meshes,
                           std::size_t max_steps);

}  // namespace trainward::hwprobe
