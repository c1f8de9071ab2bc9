// What a changed configuration file means for the programs: reread and update.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/config/config.hpp"

namespace trainward::daemon {

using Loaded = tl::expected<config::Config, std::vector<config::Problem>>;

struct ProgramDiff {
  std::vector<std::string> available;    // new in the file
  std::vector<std::string> changed;      // anything about it differs
  std::vector<std::string> disappeared;  // no longer in the file
  // What of it is about this program.
  [[nodiscard]] ProgramDiff of(const std::string& name) const;
};

ProgramDiff compare(const config::Config& before, const config::Config& after);

// {"available", "changed", "disappeared", "problems"}
json::value reread_answer(const config::Config& before, const Loaded& after);
// {"added", "updated", "removed", "stopped", "problems"}
json::value update_answer(const ProgramDiff& done);

}  // namespace trainward::daemon
