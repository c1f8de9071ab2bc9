// What the simulated card consists of: the chips of the boards that a run was given, and what each
// board suffers from.
//
// In: the script ($TRAINWARD_SIMULATE, fault_script.hpp), which is one for all or, for several
// boards, {"boards": {"010001451170c0c4": {…}}}; and the attempt's plan ($TRAINWARD_PLAN), whose
// mesh names the chips in the order of the devices. Without a mesh it is one board, of two chips
// where its script does not say otherwise. Errors: usage, with the variable. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/n300_sim/fault_script.hpp"

namespace trainward::n300 {

struct CardChip {
  std::string id;         // on its board: "L"
  std::size_t board = 0;  // index into Card::boards
  std::uint64_t dram_bytes = 0;
  std::uint64_t base_bytes = 0;  // in use before the first buffer
  std::uint64_t leak_bytes_per_step = 0;
  double slowness = 1;  // how many times as long as others it computes
};

struct CardBoard {
  std::string serial;  // empty: no plan names it
  FaultScript script;
};

struct Card {
  std::vector<CardBoard> boards;  // at least one
  std::vector<CardChip> chips;    // that answer, in the order of the devices
  std::optional<Link> link;       // between all of them: as slow as the slowest of the boards

  // What concerns the plugin, not a chip, is as the first board has it.
  [[nodiscard]] const FaultScript& script() const { return boards.front().script; }
};

Result<Card> read_card(std::string_view simulate, std::string_view plan);

}  // namespace trainward::n300
