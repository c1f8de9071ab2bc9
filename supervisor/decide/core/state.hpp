// The state of one program, as a value: compared, printed, stored as JSON, resumed from.
//
//             start                        launch      first message
//   stopped ────────▶ probing ▶ selecting ▶ launching ▶ starting ▶ loading ▶ compiling ▶ training ⇄
//                        ▲                     │             └─────────────┬─────────────── saving
//                        │                     │ failed                    │
//     at once, or after  │                     │           deadline or bad │ stop, or planned:
//     `backoff` or       │                     ▼           loss: killing   ▼ stopping
//     `repairing`        └──────────── attempt ended, verdict ◀────────────┘
//                                             └──▶ stopped, exited (done), fatal (given up)
//
// repairing: the board is being reset or caches purged. unkillable: SIGKILL was sent and the kernel
// keeps the process; nothing can start before it is gone.
//
// The words an operator sees (supervisord's) are fewer: see display().
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "common/base/time.hpp"
#include "supervisor/decide/core/action.hpp"
#include "supervisor/decide/core/faults.hpp"
#include "supervisor/decide/core/leak_watch.hpp"
#include "supervisor/decide/core/loss_watch.hpp"
#include "supervisor/decide/core/plan.hpp"
#include "supervisor/decide/core/shown.hpp"
#include "supervisor/decide/core/straggler_watch.hpp"

namespace trainward::core {

enum class Stage {
  stopped,    // not wanted, or never started
  repairing,  // a remedy is carried out
  probing,    // looking for a healthy board
  selecting,  // looking for the newest verified checkpoint
  launching,  // the intent is committed; the shim has not reported a worker yet
  starting,   // a worker runs and has said nothing
  loading,
  compiling,
  training,
  saving,
  evaluating,
  stopping,    // SIGTERM sent on request; SIGKILL when its deadline passes
  killing,     // SIGKILL sent, because of `kill`
  unkillable,  // and it is still there
  backoff,     // waiting before the next attempt
  exited,      // done
  fatal,       // given up: needs the operator
};

std::string_view to_string(Stage stage);
bool from_string(std::string_view name, Stage& stage);

// What an operator sees of it.
Shown shown(Stage stage);
std::string_view display(Stage stage);

// A worker process exists, or may exist.
bool has_worker(Stage stage);

// An attempt has its number, and is not launched yet.
bool is_on_the_way(Stage stage);

// What we did to a worker ourselves, and why: the heaviest evidence there is.
struct Kill {
  Cause cause = Cause::stopped;
  std::string why;                       // one sentence
  std::optional<MonoTime> mono_ms = {};  // when; none: not known
  friend bool operator==(const Kill&, const Kill&) = default;
};
BOOST_DESCRIBE_STRUCT(Kill, (), (cause, why, mono_ms))

// The ledger span that is still open.
struct OpenSpan {
  std::int64_t attempt = 0;
  Phase phase = Phase::down;
  Cause cause = Cause::none;
  Time since;
  friend bool operator==(const OpenSpan&, const OpenSpan&) = default;
};
BOOST_DESCRIBE_STRUCT(OpenSpan, (), (attempt, phase, cause, since))

// What the worker's processes were last seen to have used, while silence is no proof of a hang.
struct Activity {
  std::int64_t cpu_ms = 0;
  std::int64_t cache_bytes = 0;
  std::optional<MonoTime> seen_mono_ms;   // when it last grew; none: not looked at yet
  std::optional<MonoTime> next_mono_ms;   // when to look again; none: nobody needs to
  MonoTime proof_mono_ms;                 // when something better than activity was last seen
  std::optional<MonoTime> limit_mono_ms;  // beyond this, activity is no longer an excuse
  friend bool operator==(const Activity&, const Activity&) = default;
};
BOOST_DESCRIBE_STRUCT(Activity, (),
                      (cpu_ms, cache_bytes, seen_mono_ms, next_mono_ms, proof_mono_ms,
                       limit_mono_ms))

// What the machine said while the attempt ran. Evidence for its end while it is fresh, or when
// nothing went on after it.
struct MachineFact {
  Evidence evidence;
  MonoTime mono_ms;
  friend bool operator==(const MachineFact&, const MachineFact&) = default;
};
BOOST_DESCRIBE_STRUCT(MachineFact, (), (evidence, mono_ms))

// ---- the parts of a state ----

// The newest attempt, from its launch on; the next launch begins with a new one.
struct Attempt {
  std::int64_t pid = 0;     // the worker's, while it runs
  std::string resume_from;  // checkpoint folder it was told to resume from
  Step resume_step;
  Step first_step;          // 0: none yet
  Step last_step;           // or where it resumed
  Step memory_step;         // the newest that it left in memory; 0: none
  Step target_step;         // the run's last, as the worker told; 0: it did not
  Step counter_end;         // of the counter that it shows, not to be relied upon; 0: it shows none
  bool counts_run = false;  // that is the run's, as far as it says
  Step kept_at_launch;
  Step highest_at_launch;  // that any attempt had finished
  MonoTime launched_mono_ms;
  std::optional<Kill> kill;
  int kills_sent = 0;
  bool halt = false;               // somebody asked for its end, and for no next one
  bool from_scratch = false;       // somebody asked for step 0
  std::vector<MachineFact> facts;  // at most 8
  LeakWatch leak;
  std::vector<DevicePace> devices;  // of a worker that tells of several
  friend bool operator==(const Attempt&, const Attempt&) = default;
};
BOOST_DESCRIBE_STRUCT(Attempt, (),
                      (pid, resume_from, resume_step, first_step, last_step, memory_step,
                       target_step, counter_end, counts_run, kept_at_launch, highest_at_launch,
                       launched_mono_ms, kill, kills_sent, halt, from_scratch, facts, leak,
                       devices))

// What a worker is watched by: deadlines, and what the run has taught of how long things take.
struct Watch {
  std::optional<MonoTime> deadline_mono_ms;
  MonoTime progress_mono_ms;                   // last sign of progress in this stage
  std::optional<MonoTime> step_began_mono_ms;  // the one under way; none: nobody saw it
  std::vector<std::int64_t> step_times_ms;     // most recent last, at most 128
  int steps_at_once = 0;                       // in a row, of a program that is only looked at
  Activity activity;
  LossWatch loss;
  MonoTime save_began_mono_ms;
  std::int64_t save_cost_ms = 0;   // training time a save costs; smoothed; 0: none seen yet
  std::int64_t save_write_ms = 0;  // from its begin until it is on disk; smoothed; 0: not told
  friend bool operator==(const Watch&, const Watch&) = default;
};
BOOST_DESCRIBE_STRUCT(Watch, (),
                      (deadline_mono_ms, progress_mono_ms, step_began_mono_ms, step_times_ms,
                       steps_at_once, activity, loss, save_began_mono_ms, save_cost_ms,
                       save_write_ms))

// What all attempts so far have come to, and how they ended.
struct History {
  Step highest_step;       // ever finished
  Step highest_in_memory;  // that any attempt left there
  Step kept_step;          // newest verified
  // The newest checkpoint that verified, also of a program that finds its own place, and the folder
  // that it lay in then: device and inode.
  std::string kept_path;
  std::string kept_in;
  std::string seen_path;          // the newest reported checkpoint while none has verified
  WallTime from_scratch_wall_ms;  // when somebody asked for step 0; 0: never
  double last_loss = 0;
  Cause last_cause = Cause::none;  // of the attempt before: why there is a replay
  Faults faults;
  int attempts_without_progress = 0;
  int charged_attempts = 0;  // in all, without a new verified step
  std::int64_t time_without_progress_ms = 0;
  std::map<Cause, int> rungs;  // how far the ladder of a class was climbed; looks for a board
  int unreadable = 0;          // looks for a checkpoint in a row that could not be read
  int missing = 0;             // looks in a row at which what had verified was not where it was
  WallTime missing_since;      // the first of them
  int not_ready = 0;           // times in a row that what an attempt needs was held
  std::int64_t planned_restarts = 0;            // in a row
  Step hang_step;                               // the last step of an attempt called hung; 0: none
  std::int64_t hang_silent_ms = 0;              // for how long it had been silent
  bool told_of_bursts = false;                  // that it keeps its output back
  bool told_of_patience = false;                // how long a silence is a hang
  Step trouble_step;                            // where the loss broke; 0: nowhere
  int rollbacks = 0;                            // since a step beyond it
  std::map<std::string, std::string> boards;    // serial → verdict last reported to the operator
  std::optional<WallTime> without_board_since;  // none: a board was had, or is merely in use
  bool disk_refused = false;                    // the newest attempt ended for its disk
  std::string missing_file;  // what the newest attempt said of it, when it ended at once for one
  std::string waits_for;     // what a person was told last that is waited for
  std::string told_snag;     // a name of core/need.hpp
  friend bool operator==(const History&, const History&) = default;
};
BOOST_DESCRIBE_STRUCT(History, (),
                      (highest_step, highest_in_memory, kept_step, kept_path, kept_in, seen_path,
                       from_scratch_wall_ms, last_loss, last_cause, faults,
                       attempts_without_progress, charged_attempts, time_without_progress_ms, rungs,
                       unreadable, missing, missing_since, not_ready, planned_restarts, hang_step,
                       hang_silent_ms, told_of_bursts, told_of_patience, trouble_step, rollbacks,
                       boards, without_board_since, disk_refused, missing_file, waits_for,
                       told_snag))

// What the next attempt is to do differently.
struct Amends {
  PlanMemory plan;
  std::vector<DataWindow> skip;  // the newest 32
  Step below;                    // it resumes from before this step; 0: from the newest
  bool anew = false;             // it starts at step 0, as requested
  bool disk_only = false;        // the state in memory may be at fault, or there is no room for it
  std::vector<Remedy> repairs;   // to be done before the launch
  friend bool operator==(const Amends&, const Amends&) = default;
};
BOOST_DESCRIBE_STRUCT(Amends, (), (plan, skip, below, anew, disk_only, repairs))

// What the program runs on, or did last.
struct Boards {
  std::string board;  // serial of the (first) one; empty without one
  BoardRecord board_record;
  std::vector<HeldBoard> more_boards;  // of a program that runs on several
  // As they were before all of them were charged with a fault that may be one's alone; empty: none
  // was since the newest look.
  std::vector<HeldBoard> before_charge;
  bool got_on = false;                 // the run had, and the end named none of them
  std::optional<SmallerMesh> smaller;  // none: all that is configured
  Growth growth;
  KnownMesh known_mesh;
  std::string mesh_lacks;  // what was last told to be missing, and not needed
  friend bool operator==(const Boards&, const Boards&) = default;
};
BOOST_DESCRIBE_STRUCT(Boards, (),
                      (board, board_record, more_boards, before_charge, got_on, smaller, growth,
                       known_mesh, mesh_lacks))

// The first one first.
std::vector<std::string> serials_of(const Boards& boards);
// "2x4", or "1x4 of 2x4" on less than the whole; empty: it has none.
std::string mesh_words(const Boards& boards);

struct State {
  Stage stage = Stage::stopped;
  bool wanted = false;  // the operator's intent; survives restarts of everything
  bool restart_when_stopped = false;
  std::string reason = "Not started";
  Time seen;                 // the newest event: what a next daemon knows of when this one ended
  std::int64_t attempt = 0;  // number of the newest attempt, from 1; nothing of it may have begun
  Attempt current;
  Watch watch;
  History history;
  Amends next;
  Boards boards;
  std::optional<OpenSpan> span;

  friend bool operator==(const State&, const State&) = default;
};
BOOST_DESCRIBE_STRUCT(State, (),
                      (stage, wanted, restart_when_stopped, reason, seen, attempt, current, watch,
                       history, next, boards, span))

// The run's last step: what the worker has told, which knows its data, else what is configured.
inline Step target_of(const State& state, Step configured) {
  return state.current.target_step ? state.current.target_step : configured;
}

// What can be done to need less memory on the mesh that it has.
inline Shrinking shrinking_of(const State& state, const Policy& policy) {
  Shrinking shrinking = policy.shrinking;
  if (state.boards.smaller) shrinking.devices = state.boards.smaller->chips;
  return shrinking;
}

// When the shell has to feed TimerFired; none: not at all.
std::optional<MonoTime> next_timer(const State& state);

// Flat: the members of a state's parts stand beside its own, each by its name. Databases keep it.
json::object to_json(const State& state);
Result<State> state_from_json(const json::value& value);
json::object to_json(const BoardRecord& record);
BoardRecord board_record_from_json(const json::value& value);  // what cannot be read is left out
json::object to_json(const Plan& plan);

}  // namespace trainward::core
