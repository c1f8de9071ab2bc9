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

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json.hpp"
#include "common/base/time.hpp"
#include "supervisor/core/action.hpp"
#include "supervisor/core/faults.hpp"
#include "supervisor/core/leak_watch.hpp"
#include "supervisor/core/loss_watch.hpp"
#include "supervisor/core/plan.hpp"
#include "supervisor/core/shown.hpp"

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
std::optional<Stage> stage_from(std::string_view text);

// What an operator sees of it.
Shown shown(Stage stage);
std::string_view display(Stage stage);

// A worker process exists, or may exist.
bool has_worker(Stage stage);

// What we did to a worker ourselves, and why: the heaviest evidence there is.
struct Kill {
  Cause cause = Cause::stopped;
  std::string why;           // one sentence
  std::int64_t mono_ms = 0;  // when; 0: not known
  friend bool operator==(const Kill&, const Kill&) = default;
};

// The ledger span that is still open.
struct OpenSpan {
  std::int64_t attempt = 0;
  Phase phase = Phase::down;
  Cause cause = Cause::none;
  Time since;
  friend bool operator==(const OpenSpan&, const OpenSpan&) = default;
};

// What the worker's processes were last seen to have used, while silence is no proof of a hang.
struct Activity {
  std::int64_t cpu_ms = 0;
  std::int64_t cache_bytes = 0;
  std::int64_t seen_mono_ms = 0;   // when it last grew; 0: not looked at yet
  std::int64_t next_mono_ms = 0;   // when to look again; 0: nobody needs to
  std::int64_t proof_mono_ms = 0;  // when something better than activity was last seen
  std::int64_t limit_mono_ms = 0;  // beyond this activity is no excuse any more
  friend bool operator==(const Activity&, const Activity&) = default;
};

// What the machine said while the attempt ran. Evidence for its end while it is fresh, or when
// nothing went on after it.
struct MachineFact {
  Evidence evidence;
  std::int64_t mono_ms = 0;
  friend bool operator==(const MachineFact&, const MachineFact&) = default;
};

struct State {
  Stage stage = Stage::stopped;
  bool wanted = false;  // the operator's intent; survives restarts of everything
  bool restart_when_stopped = false;
  std::string reason = "Not started";
  Time seen;  // the newest event: what a next daemon knows of when this one ended

  // ---- the attempt ----
  std::int64_t attempt = 0;  // number of the newest attempt, from 1
  std::string board;         // serial of the (first) board it runs on; empty without one
  std::int64_t pid = 0;      // the worker's, while it runs
  std::string resume_from;   // checkpoint folder the attempt was told to resume from
  std::int64_t resume_step = 0;
  std::int64_t first_step = 0;    // of this attempt; 0: none yet
  std::int64_t last_step = 0;     // of this attempt, or where it resumed
  std::int64_t highest_step = 0;  // ever finished by any attempt
  std::int64_t kept_step = 0;     // newest verified
  std::int64_t kept_at_launch = 0;
  std::int64_t launched_mono_ms = 0;
  double last_loss = 0;
  std::optional<Kill> kill;
  int kills_sent = 0;
  bool halt = false;  // somebody asked for the end of this attempt, and for no next one
  std::vector<MachineFact> facts;  // at most 8

  // ---- what it is watched by ----
  std::int64_t deadline_mono_ms = 0;        // 0: none
  std::int64_t progress_mono_ms = 0;        // last sign of progress in this stage
  std::int64_t step_began_mono_ms = 0;      // the one under way; 0: nobody saw it
  std::vector<std::int64_t> step_times_ms;  // most recent last, at most 128
  Activity activity;
  LossWatch loss;
  LeakWatch leak;
  std::int64_t save_began_mono_ms = 0;
  std::int64_t save_cost_ms = 0;   // training time a save costs; smoothed; 0: none seen yet
  std::int64_t save_write_ms = 0;  // from its begin until it is on disk; smoothed; 0: not told

  // ---- what earlier attempts taught ----
  Cause last_cause = Cause::none;  // of the attempt before: why there is a replay
  Faults faults;
  int attempts_without_progress = 0;
  int charged_attempts = 0;  // in all, without a new verified step
  std::int64_t time_without_progress_ms = 0;
  std::map<Cause, int> rungs;  // how far the ladder of a class was climbed; looks for a board
  int unreadable = 0;          // looks for a checkpoint in a row that could not be read
  PlanMemory plan;
  std::int64_t planned_restarts = 0;  // in a row
  std::vector<DataWindow> skip;       // the newest 32
  std::int64_t below = 0;  // the next attempt resumes from before this step; 0: from the newest
  std::int64_t trouble_step = 0;              // where the loss broke; 0: nowhere
  int rollbacks = 0;                          // since a step beyond it
  std::map<std::string, std::string> boards;  // serial → verdict last reported to the operator
  BoardRecord board_record;                   // of `board`
  std::vector<HeldBoard> more_boards;         // of a program that runs on several, beside `board`
  std::vector<Remedy> repairs;                // to be done before a launch

  std::optional<OpenSpan> span;

  friend bool operator==(const State&, const State&) = default;
};

// When the shell has to feed TimerFired, on the monotonic clock; 0: not at all.
std::int64_t next_timer_ms(const State& state);

json::object to_json(const State& state);
Result<State> state_from_json(const json::value& value);
json::object to_json(const BoardRecord& record);
BoardRecord board_record_from_json(const json::value& value);  // what cannot be read is left out
json::object to_json(const Plan& plan);

}  // namespace trainward::core
