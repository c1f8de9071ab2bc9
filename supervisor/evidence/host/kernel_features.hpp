// What this kernel, and whatever filters its calls, offers of what Trainward is built on.
//
// Each call is really made, in a way that changes nothing: a version says little where
// distributions port calls back and the filters of containers take them away. Such a filter answers
// "Operation not permitted" where an old kernel answers "Function not implemented"; both mean that
// the call is not available.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::host {

struct Feature {
  std::string_view name;
  std::string_view since;    // "Linux 5.3"; empty where no version tells
  std::string_view purpose;  // what it is used for
  std::string_view without;  // what happens without; empty: nothing works, so the start is refused
  std::string refusal;       // what the kernel answered; empty: it is offered

  [[nodiscard]] bool offered() const { return refusal.empty(); }
  [[nodiscard]] bool required() const { return without.empty(); }
};

std::vector<Feature> kernel_features();

// An error that names every required feature that is missing and the kernel that has it.
Status require(const std::vector<Feature>& features);

// A line for each: its name, yes or no, what it is used for and what happens without.
std::string table(const std::vector<Feature>& features);

}  // namespace trainward::host
