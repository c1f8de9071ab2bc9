// The lines of the kernel's log that mean something, as data.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/weight.hpp"

namespace trainward::host {

// Where the pid stands: right behind a part of the pattern, or right before the last one. Names in
// these lines are chosen by processes, so the place is the one behind or before which no name
// comes.
enum class Pid { none, behind, behind_last_found, before };

struct Pattern {
  std::array<std::string_view, 3> parts;  // in this order, anything between; empty ones match
  core::Cause cause = core::Cause::unknown;
  int own = 0;  // weights: see KernelFact
  int other = 0;
  Pid pid = Pid::none;
};

inline constexpr std::size_t longest_kernel_line = 8192;

// The weight of how a worker ended, or of its board: heavier than the exit signal.
inline constexpr int symptom = core::weight::symptom;

// Both parts, the second one anywhere behind the first.
using BenignPattern = std::array<std::string_view, 2>;

// Swallow a line, whatever else it matches.
std::span<const BenignPattern> benign_kernel_patterns();
// The first that matches counts.
std::span<const Pattern> kernel_patterns();

}  // namespace trainward::host
