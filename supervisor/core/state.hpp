// The state of one program, as a value: compared, printed, stored as JSON, resumed from.
//
//            start                    launch            first message
//   stopped ───────▶ probing ▶ selecting ▶ launching ▶ starting ▶ loading ▶ compiling ▶ training ⇄
//   saving
//      ▲                ▲                     │            └──────────────┬──────────────────────┘
//      │ stop           │ at once, or after   │ failed                    │ deadline: killing;
//      stop: stopping │                │ `backoff`           ▼                           ▼
//      └────────────────┴──────────────── (attempt ended, verdict) ◀──────┘ ─▶ exited (done) or
//      fatal
//
// The words an operator sees (supervisord's) are fewer: see display().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/json.hpp"

namespace trainward::core {

enum class Stage {
  stopped,    // not wanted, or never started
  probing,    // looking for a healthy board
  selecting,  // looking for the newest verified checkpoint
  launching,  // the intent is committed; the shim has not reported a worker yet
  starting,   // a worker runs and has said nothing
  loading,
  compiling,
  training,
  saving,
  stopping,  // SIGTERM sent on request; SIGKILL when its deadline passes
  killing,   // SIGKILL sent, because of `kill`
  backoff,   // waiting before the next attempt
  exited,    // done
  fatal,     // given up: needs the operator
};

std::string_view to_string(Stage stage);
std::optional<Stage> stage_from(std::string_view text);

// STOPPED STARTING RUNNING BACKOFF STOPPING EXITED FATAL
std::string_view display(Stage stage);

// A worker process exists, or may exist.
bool has_worker(Stage stage);

// What we did to a worker ourselves, and why: the heaviest evidence there is.
struct Kill {
  std::string cause;  // "hang", "stopped", "resume_contract", "start_failed"
  std::string why;    // one sentence
  friend bool operator==(const Kill&, const Kill&) = default;
};

// The ledger span that is still open.
struct OpenSpan {
  std::int64_t attempt = 0;
  std::string phase;
  std::string cause;
  Time since;
  friend bool operator==(const OpenSpan&, const OpenSpan&) = default;
};

struct State {
  Stage stage = Stage::stopped;
  bool wanted = false;  // the operator's intent; survives restarts of everything
  bool restart_when_stopped = false;
  std::string reason = "Not started";

  std::int64_t attempt = 0;  // number of the newest attempt, from 1
  std::string board;         // serial of the board it runs on; empty without one
  std::int64_t pid = 0;      // the worker's, while it runs
  std::string resume_from;   // checkpoint folder the attempt was told to resume from
  std::int64_t resume_step = 0;
  std::int64_t first_step = 0;    // of this attempt; 0: none yet
  std::int64_t last_step = 0;     // of this attempt, or where it resumed
  std::int64_t highest_step = 0;  // ever finished by any attempt
  std::int64_t kept_step = 0;     // newest verified
  std::int64_t kept_at_launch = 0;
  double last_loss = 0;

  std::optional<Kill> kill;
  std::string last_cause;  // verdict of the attempt before: why there is a replay
  int attempts_without_progress = 0;

  std::int64_t deadline_mono_ms = 0;          // 0: none
  std::int64_t progress_mono_ms = 0;          // last sign of progress in this stage
  std::vector<std::int64_t> step_times_ms;    // most recent last, at most 128
  std::map<std::string, std::string> boards;  // serial → verdict last reported to the operator

  std::optional<OpenSpan> span;

  friend bool operator==(const State&, const State&) = default;
};

json::object to_json(const State& state);
Result<State> state_from_json(const json::value& value);

}  // namespace trainward::core
