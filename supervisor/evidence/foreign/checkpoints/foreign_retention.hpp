// Which of a foreign program's checkpoints go. Only on request: they are somebody else's files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "supervisor/evidence/foreign/terms/spec.hpp"

namespace trainward::foreign {

struct Retention {
  int keep = 3;                             // steps of which something verifies; at least two
  std::int64_t keep_every = 0;              // steps; 0: no milestones
  std::vector<std::filesystem::path> held;  // in use
  std::int64_t since_ns = 0;                // when the run began: what is older is of another one
};

struct Pruned {
  std::vector<std::filesystem::path> removed;
  std::vector<std::string> problems;  // of those that were to go and did not
};

// Removes the checkpoints of all steps but the newest `keep` of which at least one verifies; of
// these nothing goes. Only those of this run count, and only those go: in a folder that an earlier
// run has used its larger steps lie beside them. Stays: what has no step in its name (best.pt,
// last.ckpt), a link, a milestone, what is held, a folder with a file PINNED in it. A checkpoint is
// renamed before it is removed, so that half of one is never found; what a crash left of that goes
// at the next call. Nothing outside the program's folders is touched. Works with the caller's
// rights, which for a program under another user are that user's. Not on the loop.
Pruned prune(const WatchSpec& spec, const Folders& folders, const Retention& retention);

}  // namespace trainward::foreign
