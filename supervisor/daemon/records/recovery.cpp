#include "supervisor/daemon/records/recovery.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/os/clock.hpp"
#include "common/os/json_file.hpp"
#include "supervisor/config/program_policy.hpp"
#include "supervisor/daemon/attempt/worker_folders.hpp"
#include "supervisor/process/containment/attempt_facts.hpp"

namespace trainward::daemon {
namespace {

namespace fs = std::filesystem;

// `last`: one without an end may live, and has in its journal what nobody recorded.
core::State state_after(const store::AttemptRow& last, const fs::path& checkpoints,
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

// A state that contradicts the attempts is of another time, or damaged: nothing could be recorded
// of an attempt that is not there, and one that has not ended may have a worker.
Result<core::State> agreed(const store::Store& store, const std::string& program,
                           core::State state) {
  auto newest = store.newest_attempt(program);
  if (!newest) return propagate(newest);
  const std::int64_t number = *newest ? (*newest)->number : 0;
  const bool runs = number > 0 && (*newest)->ended_ms == 0;
  if (core::has_worker(state.stage) ? state.attempt == number : !runs) return state;
  return fail(ErrorKind::corrupt,
              fmt::format("says {} in attempt {}, while attempt {} is the newest and {}",
                          to_string(state.stage), state.attempt, number,
                          runs ? "has not ended" : "has ended"),
              "state of " + program);
}

std::int64_t newest_folder(const Paths& paths, const std::string& program) {
  const auto folders = containment::attempt_folders(paths.attempts(program));
  return folders.empty() ? 0 : folders.back().number;
}

// An attempt's folder is its own: a number that has one is not given again.
void number_beyond(core::State& state, std::int64_t newest) {
  if (core::has_worker(state.stage)) return;
  const bool on_the_way = core::is_on_the_way(state.stage);
  state.attempt = std::max(state.attempt, on_the_way ? newest + 1 : newest);
}

std::int64_t epochs_of(const json::object& worker) {
  auto training = get_object(worker, "training_config");
  return training ? int_or(**training, "num_epochs", 0) : 0;
}

// Whether the file asks a run that has ended for steps or epochs that it did not ask for before.
// Only by them: one that ended early by its own decision has not more to do for another change.
bool asks_for_more(const config::Program& program, const store::ProgramRow& row,
                   const fs::path& attempts) {
  if (row.config_digest == program.digest) return false;
  const std::int64_t target = config::policy_of(program).target_step.number;
  if (target > row.target_step) return true;
  const std::int64_t epochs = epochs_of(program.worker);
  if (target > 0 || epochs == 0) return false;
  // How many steps an epoch has is the worker's to know: its settings of then are compared.
  constexpr std::size_t max_bytes = std::size_t{1} << 20U;
  const auto folders = containment::attempt_folders(attempts);
  if (folders.empty()) return false;
  const auto before = read_json_file(folders.back().folder / worker_config, max_bytes);
  return before && before->is_object() && epochs > epochs_of(before->get_object());
}

}  // namespace

Result<std::optional<Stored>> stored_state(const store::Store& store, const Paths& paths,
                                           const config::Program& program) {
  Stored stored;
  auto row = store.program(program.name);
  if (row && !*row) {
    row = store.removed_program(program.name);
    stored.returns = true;
  }
  if (!row) return propagate(row);
  auto newest = store.newest_attempt(program.name);
  if (!newest) return propagate(newest);
  if (!*row && !*newest) return std::optional<Stored>();
  auto value = parse_json(*row ? (*row)->core_state : "", "state of " + program.name);
  auto told = value ? core::state_from_json(*value) : Result<core::State>(propagate(value));
  auto state = told ? agreed(store, program.name, *told) : told;
  if (state) {
    stored.boot_id = string_or(value->get_object(), "boot_id", "");
  } else {
    spdlog::error("{}; going on from its newest attempt", state.error().message());
    state = state_of_newest_attempt(store, paths, program);
    if (state && told) state->wanted = told->wanted;
  }
  if (!state) return propagate(state);
  stored.state = std::move(*state);
  number_beyond(stored.state, newest_folder(paths, program.name));
  stored.has_more = stored.state.stage == core::Stage::exited && *row &&
                    asks_for_more(program, **row, paths.attempts(program.name));
  stored.counted = store.journal_offset(program.name, stored.state.attempt).value_or(0);
  return std::optional(std::move(stored));
}

}  // namespace trainward::daemon
