#include "supervisor/daemon/base/program_diff.hpp"

#include <algorithm>
#include <map>

namespace trainward::daemon {
namespace {

std::map<std::string, std::string> digests(const config::Config& config) {
  std::map<std::string, std::string> found;
  for (const config::Program& program : config.programs) found[program.name] = program.digest;
  return found;
}

}  // namespace

ProgramDiff ProgramDiff::of(const std::string& name) const {
  const auto picked = [&name](const std::vector<std::string>& names) {
    const bool there = std::find(names.begin(), names.end(), name) != names.end();
    return there ? std::vector<std::string>{name} : std::vector<std::string>{};
  };
  return {picked(available), picked(changed), picked(disappeared)};
}

ProgramDiff compare(const config::Config& before, const config::Config& after) {
  ProgramDiff diff;
  const auto old_ones = digests(before);
  const auto new_ones = digests(after);
  for (const auto& [name, digest] : new_ones) {
    const auto old = old_ones.find(name);
    if (old == old_ones.end()) diff.available.push_back(name);
    if (old != old_ones.end() && old->second != digest) diff.changed.push_back(name);
  }
  for (const auto& [name, digest] : old_ones) {
    if (!new_ones.contains(name)) diff.disappeared.push_back(name);
  }
  return diff;
}

json::value reread_answer(const config::Config& before, const Loaded& after) {
  ProgramDiff diff;
  json::array problems;
  if (after) {
    diff = compare(before, *after);
  } else {
    for (const config::Problem& problem : after.error()) problems.emplace_back(problem.text());
  }
  return json::object{{"available", json::value_from(diff.available)},
                      {"changed", json::value_from(diff.changed)},
                      {"disappeared", json::value_from(diff.disappeared)},
                      {"problems", std::move(problems)}};
}

json::value update_answer(const ProgramDiff& done) {
  std::vector<std::string> stopped = done.changed;
  stopped.insert(stopped.end(), done.disappeared.begin(), done.disappeared.end());
  return json::object{{"added", json::value_from(done.available)},
                      {"updated", json::value_from(done.changed)},
                      {"removed", json::value_from(done.disappeared)},
                      {"stopped", json::value_from(stopped)},
                      {"problems", json::array()}};
}

}  // namespace trainward::daemon
