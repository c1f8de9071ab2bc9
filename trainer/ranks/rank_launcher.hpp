// Starts the ranks of one host with mpiexec and stays beside them.
//
//   shim ── launcher ── mpiexec ─┬─ rank 0
//                                └─ rank 1 …
//
// SIGTERM, SIGINT and SIGUSR1 go to rank 0, which decides for all. When a rank ends without having
// said that it is done, all of them are ended, and the error says which it was and what of. None
// outlives the launcher: each dies with the process that started it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::trainer {

struct RankLaunch {
  int ranks = 2;
  std::vector<std::string> command;  // of every rank; the program by its path
};

// Returns the exit code on which the ranks agreed. To be called by a process with one thread that
// has started no other child; it changes the environment and blocks signals. `say` gets what is
// worth a line. Errors: usage when there is no mpiexec, transient when a rank was lost.
Result<int> launch_ranks(const RankLaunch& launch, const std::function<void(std::string)>& say);

}  // namespace trainward::trainer
