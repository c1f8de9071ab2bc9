#include "supervisor/core/reflect.hpp"
#include "supervisor/core/state.hpp"

namespace trainward {

template <typename S, typename F>
requires std::is_same_v<std::remove_const_t<S>, Time>
void fields(S& s, F&& f) {
  f("wall_ms", s.wall_ms);
  f("mono_ms", s.mono_ms);
}

namespace core {

// Not in an unnamed namespace: reflect.hpp finds them by argument-dependent lookup.
template <typename S, typename T>
concept Is = std::is_same_v<std::remove_const_t<S>, T>;

template <Is<Kill> S, typename F>
void fields(S& s, F&& f) {
  f("cause", s.cause);
  f("why", s.why);
  f("mono_ms", s.mono_ms);
}
template <Is<Evidence> S, typename F>
void fields(S& s, F&& f) {
  f("source", s.source);
  f("weight", s.weight);
  f("cause", s.cause);
  f("text", s.text);
  f("location", s.location);
}
template <Is<MachineFact> S, typename F>
void fields(S& s, F&& f) {
  f("evidence", s.evidence);
  f("mono_ms", s.mono_ms);
}
template <Is<OpenSpan> S, typename F>
void fields(S& s, F&& f) {
  f("attempt", s.attempt);
  f("phase", s.phase);
  f("cause", s.cause);
  f("since", s.since);
}
template <Is<Activity> S, typename F>
void fields(S& s, F&& f) {
  f("cpu_ms", s.cpu_ms);
  f("cache_bytes", s.cache_bytes);
  f("seen_mono_ms", s.seen_mono_ms);
  f("next_mono_ms", s.next_mono_ms);
  f("proof_mono_ms", s.proof_mono_ms);
  f("limit_mono_ms", s.limit_mono_ms);
}
template <Is<LossWatch> S, typename F>
void fields(S& s, F&& f) {
  f("recent", s.recent);
  f("usual_limit", s.usual_limit);
  f("since_limit", s.since_limit);
  f("high", s.high);
  f("high_since", s.high_since);
}
template <Is<LeakWatch> S, typename F>
void fields(S& s, F&& f) {
  f("samples", s.samples);
  f("first_mono_ms", s.first_mono_ms);
  f("first_bytes", s.first_bytes);
  f("last_bytes", s.last_bytes);
  f("sum_x", s.sum_x);
  f("sum_y", s.sum_y);
  f("sum_xx", s.sum_xx);
  f("sum_xy", s.sum_xy);
}
template <Is<Fault> S, typename F>
void fields(S& s, F&& f) {
  f("cause", s.cause);
  f("step", s.step);
  f("survived", s.survived);
  f("lived_ms", s.lived_ms);
  f("rung", s.rung);
}
template <Is<DataWindow> S, typename F>
void fields(S& s, F&& f) {
  f("from", s.from);
  f("to", s.to);
}
template <Is<FailedRung> S, typename F>
void fields(S& s, F&& f) {
  f("times", s.times);
  f("not_before_wall_ms", s.not_before_wall_ms);
}
template <Is<PlanMemory> S, typename F>
void fields(S& s, F&& f) {
  f("rung", s.rung);
  f("good_steps", s.good_steps);
  f("failed", s.failed);
}
template <Is<BoardRecord> S, typename F>
void fields(S& s, F&& f) {
  f("faults_wall_ms", s.faults_wall_ms);
  f("quarantined_until_wall_ms", s.quarantined_until_wall_ms);
  f("quarantines", s.quarantines);
  f("probation", s.probation);
  f("reason", s.reason);
}
template <Is<HeldBoard> S, typename F>
void fields(S& s, F&& f) {
  f("serial", s.serial);
  f("record", s.record);
}
template <Is<State> S, typename F>
void fields(S& s, F&& f) {
  f("wanted", s.wanted);
  f("restart_when_stopped", s.restart_when_stopped);
  f("reason", s.reason);
  f("seen", s.seen);
  f("attempt", s.attempt);
  f("board", s.board);
  f("pid", s.pid);
  f("resume_from", s.resume_from);
  f("resume_step", s.resume_step);
  f("first_step", s.first_step);
  f("last_step", s.last_step);
  f("highest_step", s.highest_step);
  f("kept_step", s.kept_step);
  f("kept_at_launch", s.kept_at_launch);
  f("launched_mono_ms", s.launched_mono_ms);
  f("last_loss", s.last_loss);
  f("kill", s.kill);
  f("kills_sent", s.kills_sent);
  f("halt", s.halt);
  f("facts", s.facts);
  f("deadline_mono_ms", s.deadline_mono_ms);
  f("progress_mono_ms", s.progress_mono_ms);
  f("step_began_mono_ms", s.step_began_mono_ms);
  f("step_times_ms", s.step_times_ms);
  f("activity", s.activity);
  f("loss", s.loss);
  f("leak", s.leak);
  f("save_began_mono_ms", s.save_began_mono_ms);
  f("save_cost_ms", s.save_cost_ms);
  f("save_write_ms", s.save_write_ms);
  f("last_cause", s.last_cause);
  f("faults", s.faults);
  f("attempts_without_progress", s.attempts_without_progress);
  f("charged_attempts", s.charged_attempts);
  f("time_without_progress_ms", s.time_without_progress_ms);
  f("rungs", s.rungs);
  f("unreadable", s.unreadable);
  f("plan", s.plan);
  f("planned_restarts", s.planned_restarts);
  f("skip", s.skip);
  f("below", s.below);
  f("trouble_step", s.trouble_step);
  f("rollbacks", s.rollbacks);
  f("boards", s.boards);
  f("board_record", s.board_record);
  f("more_boards", s.more_boards);
  f("repairs", s.repairs);
  f("span", s.span);
}

json::object to_json(const State& state) {
  json::object object = reflect::write(state).as_object();
  object["stage"] = std::string(to_string(state.stage));
  return object;
}

Result<State> state_from_json(const json::value& value) {
  if (!value.is_object()) return fail(ErrorKind::corrupt, "the stored state is not an object");
  const json::object& object = value.get_object();
  auto stage_text = get_string(object, "stage");
  if (!stage_text) return propagate(stage_text);
  const auto stage = stage_from(*stage_text);
  if (!stage) return fail(ErrorKind::corrupt, "unknown stage '" + *stage_text + "'");
  // What the operator wants cannot be guessed.
  if (auto wanted = get_bool(object, "wanted"); !wanted) return propagate(wanted);
  State state;
  reflect::read(value, state);
  state.stage = *stage;
  return state;
}

json::object to_json(const BoardRecord& record) { return reflect::write(record).as_object(); }

BoardRecord board_record_from_json(const json::value& value) {
  BoardRecord record;
  reflect::read(value, record);
  return record;
}

json::object to_json(const Plan& plan) {
  json::object object;
  if (plan.block > 0) object["block"] = plan.block;
  if (plan.batch > 0) object["batch"] = plan.batch;
  object["accumulation"] = plan.accumulation;
  object["recompute"] = plan.recompute;
  if (plan.checkpoint_every > 0) object["checkpoint_every"] = plan.checkpoint_every;
  if (!plan.skip.empty()) object["skip"] = reflect::write(plan.skip);
  return object;
}

}  // namespace core
}  // namespace trainward
