// What tt-metal reads when a worker opens boards.
#pragma once

#include "hwprobe/worker_environment.hpp"

namespace trainward::hwprobe {

std::vector<Variable> tenstorrent_environment(const WorkerPlace& place);

}  // namespace trainward::hwprobe
