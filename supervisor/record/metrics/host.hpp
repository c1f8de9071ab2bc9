// What the kernel says of this machine as a whole, in /proc below a root folder.
#pragma once

#include <filesystem>

#include "supervisor/record/metrics/snapshot.hpp"

namespace trainward::metrics {

// Four small files; never waits. `root`: "/", or a fake tree.
HostFigures look_at_host(const std::filesystem::path& root);

}  // namespace trainward::metrics
