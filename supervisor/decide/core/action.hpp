// Everything the core may ask for. Records are committed together with the state, first; then the
// side effects are carried out in order, and their results come back as events.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/step.hpp"
#include "common/base/time.hpp"
#include "common/protocol/device_figures.hpp"
#include "common/protocol/step_figures.hpp"
#include "supervisor/decide/core/boards.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/phase.hpp"
#include "supervisor/decide/core/plan.hpp"

namespace trainward::core {

// ---- records ----
struct RecordEvent {
  std::string kind;
  std::string text;
  std::string by = {};       // whose request led to it: "uid 1000", "token anna"; empty: nobody's
  std::int64_t attempt = 0;  // that it is about; the next may have begun in the same turn
};
struct RecordStep {
  Step step;
  StepFigures figures = {};
  bool replayed = false;
};
struct RecordDevices {
  DeviceWindow window;
};
// The loss of data that is not trained on, after `step` steps.
struct RecordEvaluation {
  Step step;
  double loss = 0;
  std::optional<double> perplexity = {};
};
struct RecordSpan {
  std::int64_t attempt = 0;
  Phase phase = Phase::down;
  Cause cause = Cause::none;
  WallTime begin_wall_ms;
  std::int64_t duration_ms = 0;
};
struct Evidence {
  std::string source;
  int weight = 0;
  Cause cause = Cause::none;
  std::string text;
  std::string location;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};
BOOST_DESCRIBE_STRUCT(Evidence, (), (source, weight, cause, text, location))
// The attempt begins: committed before anything is forked.
struct RecordAttemptBegun {
  std::int64_t attempt = 0;
  bool told_to_resume = true;  // otherwise its first step shows where it went on
};
struct RecordWorkerStarted {
  std::int64_t pid = 0;
};
// It began from memory, beyond the checkpoint that it was given.
struct RecordResumed {
  Step step;
};
struct RecordAttemptEnded {
  std::int64_t attempt = 0;
  std::optional<int> code;
  std::optional<int> signal;
  Cause cause = Cause::none;
  std::string verdict;
  std::vector<Evidence> evidence;  // heaviest first
  std::optional<Remedy> remedy;    // what is done about it; empty: nothing needs to be
};
// The board's whole record, for all programs.
struct RecordBoard {
  std::string serial;
  BoardRecord record;
};
struct RecordCheckpoint {
  std::int64_t attempt = 0;
  std::string path;
  Step step;
  std::uint64_t bytes = 0;
  std::string error;
};

// ---- side effects ----
// Also while a worker runs on a smaller mesh, whose boards count as free then; answered by
// ProbeFinished.
struct Probe {};
// Before the next attempt; answered by Repaired.
struct Repair {
  Remedy repair = Remedy::retry;
  std::string serial = {};  // of the board it is about, or whose kernel cache goes; empty: of none
  std::vector<std::string> more = {};  // that the program ran on as well, to be reset with it
};
// Newest verified first. Checkpoints of step `below` and later are set aside before the choice:
// they hold what went wrong, or somebody has asked for step 0. 0: none are. Of a command's, which
// stay where they are, none that was written before `since` is chosen.
struct SelectCheckpoint {
  Step below;
  WallTime since = {};
};
struct Launch {
  std::int64_t attempt = 0;
  std::string board;
  std::string resume_from;
  Plan plan = {};
  std::vector<std::string> more_boards = {};  // of a program that runs on several, beside `board`
  bool disk_only = false;  // what the attempt before left in memory is not to be used
};
enum class Signal { terminate, kill };
struct SendSignal {
  Signal signal = Signal::terminate;
};
// Asks what the worker's processes have used so far; answered by ActivitySeen.
struct CheckActivity {};
struct VerifyCheckpoint {
  std::int64_t attempt = 0;
  std::string path;
  Step step;
};
struct PruneCheckpoints {};

using Action =
    std::variant<RecordEvent, RecordStep, RecordDevices, RecordEvaluation, RecordSpan,
                 RecordAttemptBegun, RecordWorkerStarted, RecordResumed, RecordAttemptEnded,
                 RecordCheckpoint, RecordBoard, Probe, Repair, SelectCheckpoint, Launch, SendSignal,
                 CheckActivity, VerifyCheckpoint, PruneCheckpoints>;
using Actions = std::vector<Action>;

}  // namespace trainward::core
