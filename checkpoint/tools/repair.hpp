// Puts a checkpoint folder in order after an accident: a full disk, a power cut, a bad cable.
//
// First what dead writers have left is removed, and an interrupted replacement finished. Then every
// checkpoint is read and judged, and only when all are, names are changed, one rename at a time:
//   - a damaged one is set aside (`.corrupt-…`), as select() would
//   - one that was set aside and verifies now comes back, when its name is free
//   - `latest` names the newest good one
// What cannot be read, or is of a newer format, stays where it is. Out: what was done, or with
// `dry_run` what would be. Ended through `io` while it reads, it has changed no checkpoint. A
// writer and readers may run beside it: a folder that changed since it was judged is left alone.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.hpp"

namespace trainward::checkpoint {

struct Repair {
  enum class Action { set_aside, brought_back, removed, pointed_latest };
  struct Step {
    Action action = Action::set_aside;
    std::filesystem::path path;  // what it was done to
    std::filesystem::path to;    // where it lies now, or what `latest` names; may be empty
    std::string reason;
    std::string problem;  // why it could not be done; empty: it was, or would be
  };
  std::vector<Step> steps;
  std::vector<Summary> good;         // after the repair, newest first
  std::vector<Summary> spare;        // whole, but aside, for their name is taken
  std::vector<Rejected> left_alone;  // neither good nor known to be damaged

  [[nodiscard]] bool complete() const;  // every step succeeded
};

std::string_view to_string(Repair::Action action);  // "set_aside" …

Result<Repair> repair(const std::filesystem::path& root, bool dry_run = false,
                      const IoOptions& io = {});

}  // namespace trainward::checkpoint
