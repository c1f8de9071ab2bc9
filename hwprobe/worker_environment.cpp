#include "hwprobe/worker_environment.hpp"

#include "hwprobe/tenstorrent/worker_environment.hpp"

namespace trainward::hwprobe {

std::vector<Variable> worker_environment(const WorkerPlace& place) {
  std::vector<Variable> variables;
  for (const auto& of_vendor : {tenstorrent_environment}) {
    for (Variable& variable : of_vendor(place)) variables.push_back(std::move(variable));
  }
  return variables;
}

}  // namespace trainward::hwprobe
