// A stage: one part of the look at a board, done by a child that may hang, and what came of it.
//
// The child only reads, and emits each reading at once; the parent interprets. So whatever was read
// before a child hung is kept.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "hwprobe/stages/reading.hpp"
#include "hwprobe/stages/recorded_files.hpp"

namespace trainward::hwprobe {

enum class Ending {
  finished,
  failed,           // the body gave an error or said too much: `detail`
  crashed,          // ended by a signal that was not ours: `detail`
  bus_error,        // SIGBUS: the device went away under a mapping
  deadline,         // killed at its deadline
  stuck_in_kernel,  // killed, and did not end: now, or remembered from an earlier look
  locked,           // not started: another probe looks at this board
  not_started,      // no child could be had: `detail`
};

std::string_view to_string(Ending ending);  // "finished", "stuck in kernel", …

struct StageResult {
  std::string stage;
  Ending ending = Ending::finished;
  std::string detail;
  std::vector<Reading> readings;
  std::int64_t took_ms = 0;

  friend bool operator==(const StageResult&, const StageResult&) = default;
};

struct Stage {
  // Runs in the child, for one board. Whatever it opens ends with it.
  using Body = std::function<Status(const std::string& board, const Emit& emit)>;
  // May the stage start, after these of the same board? Runs in the parent; pure.
  using When =
      std::function<bool(const std::string& board, const std::vector<StageResult>& before)>;

  std::string name;  // one word
  std::chrono::milliseconds deadline{0};
  Body body;
  When when;  // empty: when every stage before it has finished
};

struct BoardLook {
  std::string board;                // its PCI address
  std::vector<StageResult> stages;  // those that were started, or could not be

  friend bool operator==(const BoardLook&, const BoardLook&) = default;
};

}  // namespace trainward::hwprobe
