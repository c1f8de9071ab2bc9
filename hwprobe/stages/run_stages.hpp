// Looks at several boards at once, stage by stage, a child each.
//
// In: the boards' PCI addresses, the stages in their order, a folder for locks and memory. Out: for
// every board, in the order given, what its stages read and how they ended; never an error. Takes
// as long as the slowest board: at most `lock_wait`, then for each stage its deadline and
// `kill_grace`. A child that outlives SIGKILL by `kill_grace` is left behind and remembered; until
// it ends, no process with the same folder starts another on that board.
// One thread only (child.hpp). Leaves no descriptor; leaves a child only where the kernel does, and
// that one is reaped by the next look at its board.
#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hwprobe/stages/processes.hpp"
#include "hwprobe/stages/stage.hpp"

namespace trainward::hwprobe {

struct RunLimits {
  std::chrono::milliseconds lock_wait{10'000};
  std::chrono::milliseconds kill_grace{1'000};
};

std::vector<BoardLook> run_stages(const std::vector<std::string>& boards,
                                  std::span<const Stage> stages,
                                  const std::filesystem::path& state_folder, Processes& processes,
                                  const RunLimits& limits = {});

}  // namespace trainward::hwprobe
