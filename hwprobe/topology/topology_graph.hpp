// Chips and the links between them, as a graph that programs can be placed on.
//
// In: a report, and what is expected of the host, if given. Out: the chips in a fixed order (by
// board, then by name), whatever order the report had; each link once. A link that was not
// examined but must be there (the traces on an N300, expected cables) is `assumed`. Links to
// what is not in the report are left out. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hwprobe/report/report.hpp"
#include "hwprobe/topology/expected.hpp"

namespace trainward::hwprobe {

enum class LinkState { up, assumed, down };

struct GraphBoard {
  std::string serial;
  std::string type;
  std::string bus_id;
  Verdict verdict = Verdict::unknown;
};

struct GraphChip {
  std::size_t board = 0;  // index into Graph::boards
  std::string id;         // "L"
  Verdict verdict = Verdict::unknown;
  double temperature_c = 0;  // 0: not known
};

struct GraphLink {
  std::size_t from = 0;  // indexes into Graph::chips
  std::size_t to = 0;
  std::string from_port;
  std::string to_port;
  LinkState state = LinkState::assumed;
  std::int64_t retrains = 0;
};

struct Graph {
  std::vector<GraphBoard> boards;
  std::vector<GraphChip> chips;
  std::vector<GraphLink> links;

  // By serial number, whatever case its digits have.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view board,
                                                std::string_view chip) const;
  // "010001451170c0c4/L"
  [[nodiscard]] std::string name(std::size_t chip) const;
  // "010001451170c0c4/L:8 to 010001451170c0c4/R:0"
  [[nodiscard]] std::string name(const GraphLink& link) const;
};

Graph make_graph(const Report& report, const Expected& expected = {});

// May a program run on this chip: its board may be used, and nothing is known against the chip.
bool healthy(const Graph& graph, std::size_t chip);

}  // namespace trainward::hwprobe
