// The phases of the ledger: where the time of a program went that was wanted.
//
// A name that is not in the table comes from another release and counts as down.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace trainward::core {

enum class Phase : std::uint8_t {
  waiting,  // for a device, or before the next attempt
  probing,
  resetting,
  loading,
  compiling,
  stepping,   // useful
  replaying,  // steps that were done before and lost
  saving,
  evaluating,
  down,  // lost
};

inline constexpr std::array<std::string_view, 10> phase_names{
    "waiting",  "probing",   "resetting", "loading",    "compiling",
    "stepping", "replaying", "saving",    "evaluating", "down"};

constexpr std::string_view to_string(Phase phase) {
  return phase_names.at(static_cast<std::size_t>(phase));
}
static_assert(to_string(Phase::down) == phase_names.back());

constexpr bool from_string(std::string_view name, Phase& phase) {
  const auto* const found = std::ranges::find(phase_names, name);
  phase =
      found == phase_names.end() ? Phase::down : static_cast<Phase>(found - phase_names.begin());
  return found != phase_names.end();
}

}  // namespace trainward::core
