// How much more memory a worker can get before the kernel kills a process for it.
//
// The least of: what the machine has left, and what each cgroup from the worker's own up to the top
// still allows (version 1 and 2; the lower of memory.max and memory.high, because a worker above
// memory.high stands still). Page cache of a cgroup that the kernel can drop at once counts as free
// there, as it does in MemAvailable.
//
// Free swap does not count: a training run that lives from swap makes no progress, and it is better
// recycled at a checkpoint. Memory that is already swapped out is in Usage::memory_bytes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "common/os/processes/cgroup.hpp"

namespace trainward::host {

struct AvailableMemory {
  std::int64_t bytes = 0;
  std::string bound;  // what limits it, in words: "the machine", "cgroup /system.slice"
};

// `cgroups` of the worker (cgroups_of), shared or not. Nothing when nothing can be read.
std::optional<AvailableMemory> available_memory(const std::filesystem::path& root,
                                                const Cgroups& cgroups);

}  // namespace trainward::host
