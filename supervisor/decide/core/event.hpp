// Everything that can happen to a program. Paths and texts are data here; nothing is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/step.hpp"
#include "common/protocol/device_figures.hpp"
#include "common/protocol/step_figures.hpp"
#include "supervisor/decide/core/boards.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/weight.hpp"

namespace trainward::core {

struct StartRequested {
  // By a person, who has looked at it: budgets and ladders start over. Otherwise the daemon goes on
  // with what it was stopped in by a shutdown.
  bool anew = true;
  std::string by = {};        // "uid 1000", "token anna": into the events; empty: nobody asked
  bool from_scratch = false;  // at step 0, whatever checkpoints there are
};
struct StopRequested {
  std::string who;           // for whom or what, in words: "uid 1000", "update", "shutdown"
  bool keep_wanted = false;  // the daemon goes, the intent stays: the next daemon starts it again
  bool at_once = false;      // do not wait for a save
  std::string by = {};       // as of StartRequested
};
struct RestartRequested {
  std::string by = {};
};
// A daemon begins. It comes after what the attempt's journal still held, told in the journal's own
// time, and before anything that carries the time of the new daemon.
struct DaemonStarted {
  bool machine_restarted = false;  // the monotonic clock restarted; no worker can be alive
  bool answers_lost = true;  // false: what was asked for while the journal was read is on its way
};

struct BoardFound {
  std::string serial;
  std::string verdict;  // "OK", "REMOTE_LOST", …
  bool usable = false;
  std::string evidence;     // the decisive line, in words
  BoardRecord record = {};  // what it has done before
  bool in_use = false;      // another program works on it: not usable, and not to be reset
};
// For a program that needs several chips, linked to each other as a mesh: the shell knows the links
// and says which boards it is to have.
struct BoardSet {
  std::vector<std::string> serials;  // in the order of the mesh; empty: it is refused
  std::string refusal;               // what is missing, or who holds it
  KnownMesh mesh = {};               // that it forms
  std::string lacks = {};            // what of the mesh it was once is missing, and not needed
  // Of a set that is refused: boards that work, and whose links to each other are down.
  std::vector<std::string> unlinked = {};
  friend bool operator==(const BoardSet&, const BoardSet&) = default;
};
// In place of one that is refused, and not merely for what others hold: the largest that there is.
struct SmallerSet {
  std::vector<std::string> serials;
  SmallerMesh mesh;
  std::string cost;  // how much slower it is: "a step takes about 2 times as long"
};
struct ProbeFinished {
  std::vector<BoardFound> boards;
  std::string error;                 // the probe itself failed
  std::optional<BoardSet> set = {};  // none: any one usable board will do
  std::optional<SmallerSet> smaller = {};
};

// Of a repair that goes on: boards that were reset are left alone for a while.
struct Settling {
  std::int64_t for_ms = 0;
};
// A repair is over.
struct Repaired {
  Remedy repair = Remedy::retry;
  std::string error = {};  // empty: it worked; a board is what it was
  std::string found = {};  // by the look at the board afterwards
};

struct CheckpointSelected {
  std::string path;  // empty: start from the beginning, or from where the program itself finds
  Step step;
  std::string error;        // the folder could not be read at all
  bool missing = false;     // what `error` says: what had verified is not where it was
  std::string folder = {};  // which one `path` lies in: device and inode
};

// Instead of the choice: what the next attempt needs is held by something that still runs, or
// cannot be made ready. It is waited for.
struct NotReady {
  std::string what;
};

// Passed over on the way to the selected one: damaged, and renamed aside; or nobody may read it.
struct CheckpointRejected {
  std::string path;  // where it lay
  Step step;
  std::string aside;  // where it lies now; the same when it was left there
  std::string reason;
};

struct LaunchFailed {
  std::string what;
  bool transient = true;
};
struct WorkerStarted {
  std::int64_t pid = 0;
};
// Messages of the worker.
struct PhaseEntered {
  std::string phase;  // load compile train save upload evaluate
};
struct Resumed {
  Step step;
  bool from_memory = false;  // where the attempt before left its state
};
// What nobody told is not there; a loss that is there and is no number is a run that has diverged.
struct StepDone {
  Step step;
  StepFigures figures = {};
  Step counter_end = {};  // the last step of the counter that the program shows; 0: it shows none
  bool of_run = false;    // which is the run's, as far as it says, and not an epoch's
  Step in_memory = {};    // the newest whose state is in memory for the next attempt; 0: none
};
struct DevicesTold {
  DeviceWindow window;
};
struct CheckpointReported {
  std::string path;
  Step step;
  std::int64_t write_ms = 0;  // how long it was written while the worker trained on; 0: not told
};
struct Evaluated {
  Step step;
  double loss = 0;                        // of data that is not trained on
  std::optional<double> perplexity = {};  // told by a worker whose loss is a cross-entropy
};
// The last step of the run, of a worker that alone can know it.
struct TargetTold {
  Step step;
};
// Something about the program that belongs into its events and decides nothing.
struct Noticed {
  std::string kind;  // of the event
  std::string text;
  std::string by = {};  // who did it; empty: nobody
};
struct Alive {};  // WATCHDOG=1, STATUS=…: a sign of life without progress

// What the worker's processes have used since they started.
struct ActivitySeen {
  std::int64_t cpu_ms = 0;
  std::int64_t cache_bytes = 0;  // compiled programs and kernels, and whatever else it has written
};
// Taken now and then while the worker makes progress.
struct MemorySample {
  std::int64_t used_bytes = 0;
  std::int64_t available_bytes = 0;  // that it could still get
};
// Something the machine said while the attempt ran: its kernel, its cgroups, its memory pressure.
struct HostFact {
  std::string source;  // "kernel log", "memory pressure", …
  int weight = 0;
  Cause cause = Cause::unknown;
  std::string text;
};
// Killed, and the kernel does not let it die.
struct Unkillable {
  std::string what;  // pids and where they hang
};

struct CheckpointVerified {
  std::int64_t attempt = 0;
  std::string path;
  Step step;
  std::uint64_t bytes = 0;
  std::string error;        // empty: it verified
  std::string folder = {};  // which one it lies in: device and inode
};

// The rule whose lines say that a file is not there.
inline constexpr std::string_view missing_file_rule = "data-missing";

struct LogMatch {
  std::string rule;
  Cause cause = Cause::unknown;
  int weight = core::weight::log_cause;  // as evidence; a root weighs more than its cascade
  std::string line;
  std::string location;  // "stderr.log:117"
};
// What the worker said last: the last line with words in it of its standard error, else of its
// standard output.
struct LastWords {
  std::string line;      // printable, at most 500 bytes; empty: it said nothing
  std::string location;  // "stderr.log:117"
};
// Its first process has ended at a stop, and what that had started goes on: probably it saves.
struct Outlived {
  std::string who;  // "process 123 (python3)"
};
struct WorkerExited {
  std::optional<int> code;
  std::optional<int> signal;
  std::vector<LogMatch> matches;  // in the order of weight: a root before its cascade
  LastWords last_words = {};
  std::int64_t oom_kills = 0;                // in its cgroup
  bool asked_to_stop = false;                // its shim was sent SIGTERM, by us or by somebody else
  std::string asked_by = {};                 // the process that sent it; empty: not known
  std::string cut_off = {};                  // who was still ending when the time for it was over
  std::vector<std::string> last_lines = {};  // of its standard error, else of its standard output,
                                             // oldest first: for people, and decides nothing
};
// The shim is gone and left no exit record, or the launch never happened.
struct AttemptLost {
  std::string what;
};
// A new daemon found the worker alive: deadlines restart because nobody watched meanwhile.
struct Adopted {};
struct TimerFired {};

using Event =
    std::variant<StartRequested, StopRequested, RestartRequested, DaemonStarted, ProbeFinished,
                 Settling, Repaired, CheckpointSelected, NotReady, CheckpointRejected, LaunchFailed,
                 WorkerStarted, PhaseEntered, Resumed, StepDone, DevicesTold, CheckpointReported,
                 Evaluated, TargetTold, Noticed, Alive, ActivitySeen, MemorySample, HostFact,
                 Unkillable, CheckpointVerified, Outlived, WorkerExited, AttemptLost, Adopted,
                 TimerFired>;

}  // namespace trainward::core
