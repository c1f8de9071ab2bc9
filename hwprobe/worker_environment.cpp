#include "hwprobe/worker_environment.hpp"

namespace trainward::hwprobe {
namespace {

// What tt-metal reads when a worker opens boards.
std::vector<Variable> tenstorrent(const WorkerPlace& place) {
  std::vector<Variable> variables{
      {"TT_METAL_CACHE", place.kernel_cache.string()},
      // Below the supervisor's own deadlines, so that the runtime's report of a hang comes first.
      {"TT_METAL_OPERATION_TIMEOUT_SECONDS", std::to_string(place.longest_step_s), true}};
  if (!place.bus_ids.empty()) variables.push_back({"TT_VISIBLE_DEVICES", place.bus_ids});
  return variables;
}

}  // namespace

std::vector<Variable> worker_environment(const WorkerPlace& place) {
  std::vector<Variable> variables;
  for (const auto& of_vendor : {tenstorrent}) {
    for (Variable& variable : of_vendor(place)) variables.push_back(std::move(variable));
  }
  return variables;
}

}  // namespace trainward::hwprobe
