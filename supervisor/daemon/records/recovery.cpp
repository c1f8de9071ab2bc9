#include "supervisor/daemon/records/recovery.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/os/clock.hpp"

namespace trainward::daemon {
namespace {

// `last`: one without an end may live, and has in its journal what nobody recorded.
core::State state_after(const store::AttemptRow& last, const std::filesystem::path& checkpoints,
                        bool autostart) {
  const Time at = now();
  core::State state;
  state.attempt = last.number;
  state.current.resume_step = {last.resume_step};
  state.current.first_step = {last.first_step};
  state.current.last_step = {last.last_step};
  if (last.ended_ms == 0) {
    // What its journal says comes next, with the times of then: nothing newer was seen.
    state.stage = core::Stage::launching;
    state.wanted = true;
    state.boards.board = last.board;
    if (!last.resume_from.empty())
      state.current.resume_from = (checkpoints / last.resume_from).string();
    state.current.launched_mono_ms =
        at.mono - std::max<std::int64_t>(at.wall - WallTime{last.started_ms}, 0);
    return state;
  }
  state.seen = at;
  state.history.last_cause = core::cause_from(last.cause);
  state.reason = last.verdict;
  if (state.history.last_cause == core::Cause::done) {
    state.stage = core::Stage::exited;
  } else if (autostart) {
    state.wanted = true;
    state.stage = core::Stage::backoff;
    state.watch.deadline_mono_ms = at.mono + 1;
  }
  return state;
}

Result<core::State> state_of_newest_attempt(const store::Store& store, const Paths& paths,
                                            const config::Program& program) {
  auto attempts = store.attempts(program.name);
  if (!attempts) return propagate(attempts);
  if (attempts->empty()) return core::State{};
  core::State state =
      state_after(attempts->back(), paths.checkpoints(program.name), program.autostart);
  state.history.highest_step = {store.highest_step(program.name).value_or(0)};
  state.history.kept_step = {store.newest_checkpoint(program.name).value_or(0)};
  state.current.kept_at_launch = state.history.kept_step;
  state.current.highest_at_launch = state.history.highest_step;
  return state;
}

}  // namespace

Result<std::optional<Stored>> stored_state(const store::Store& store, const Paths& paths,
                                           const config::Program& program) {
  auto row = store.program(program.name);
  if (!row) return propagate(row);
  if (!*row) return std::optional<Stored>();
  Stored stored;
  auto value = parse_json((*row)->core_state, "state of " + program.name);
  auto state = value ? core::state_from_json(*value) : Result<core::State>(propagate(value));
  if (state) {
    stored.boot_id = string_or(value->get_object(), "boot_id", "");
  } else {
    spdlog::error("{}; going on from its newest attempt", state.error().message());
    state = state_of_newest_attempt(store, paths, program);
  }
  if (!state) return propagate(state);
  stored.state = std::move(*state);
  stored.counted = store.journal_offset(program.name, stored.state.attempt).value_or(0);
  return std::optional(std::move(stored));
}

}  // namespace trainward::daemon
