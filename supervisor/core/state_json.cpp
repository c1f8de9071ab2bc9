#include <algorithm>
#include <array>

#include "supervisor/core/state.hpp"

namespace trainward::core {
namespace {

struct StageName {
  Stage stage;
  std::string_view name;
  std::string_view display;
  bool worker;
};

constexpr std::array<StageName, 14> stages{{
    {Stage::stopped, "stopped", "STOPPED", false},
    {Stage::probing, "probing", "STARTING", false},
    {Stage::selecting, "selecting", "STARTING", false},
    {Stage::launching, "launching", "STARTING", true},
    {Stage::starting, "starting", "STARTING", true},
    {Stage::loading, "loading", "STARTING", true},
    {Stage::compiling, "compiling", "STARTING", true},
    {Stage::training, "training", "RUNNING", true},
    {Stage::saving, "saving", "RUNNING", true},
    {Stage::stopping, "stopping", "STOPPING", true},
    {Stage::killing, "killing", "STOPPING", true},
    {Stage::backoff, "backoff", "BACKOFF", false},
    {Stage::exited, "exited", "EXITED", false},
    {Stage::fatal, "fatal", "FATAL", false},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages.at(i).stage != static_cast<Stage>(i)) return false;
  }
  return true;
}
static_assert(in_order() && stages.size() == static_cast<std::size_t>(Stage::fatal) + 1);

const StageName& row(Stage stage) { return stages.at(static_cast<std::size_t>(stage)); }

json::object time_json(Time time) { return {{"wall_ms", time.wall_ms}, {"mono_ms", time.mono_ms}}; }

}  // namespace

std::string_view to_string(Stage stage) { return row(stage).name; }
std::string_view display(Stage stage) { return row(stage).display; }
bool has_worker(Stage stage) { return row(stage).worker; }

std::optional<Stage> stage_from(std::string_view text) {
  const auto* found = std::find_if(stages.begin(), stages.end(),
                                   [&](const StageName& s) { return s.name == text; });
  if (found == stages.end()) return std::nullopt;
  return found->stage;
}

json::object to_json(const State& s) {
  json::object object{
      {"stage", std::string(to_string(s.stage))},
      {"wanted", s.wanted},
      {"restart_when_stopped", s.restart_when_stopped},
      {"reason", s.reason},
      {"attempt", s.attempt},
      {"board", s.board},
      {"pid", s.pid},
      {"resume_from", s.resume_from},
      {"resume_step", s.resume_step},
      {"first_step", s.first_step},
      {"last_step", s.last_step},
      {"highest_step", s.highest_step},
      {"kept_step", s.kept_step},
      {"kept_at_launch", s.kept_at_launch},
      {"last_loss", s.last_loss},
      {"last_cause", s.last_cause},
      {"attempts_without_progress", s.attempts_without_progress},
      {"deadline_mono_ms", s.deadline_mono_ms},
      {"progress_mono_ms", s.progress_mono_ms},
      {"step_times_ms", json::value_from(s.step_times_ms)},
      {"boards", json::value_from(s.boards)},
  };
  if (s.kill) object["kill"] = json::object{{"cause", s.kill->cause}, {"why", s.kill->why}};
  if (s.span) {
    object["span"] = json::object{{"attempt", s.span->attempt},
                                  {"phase", s.span->phase},
                                  {"cause", s.span->cause},
                                  {"since", time_json(s.span->since)}};
  }
  return object;
}

Result<State> state_from_json(const json::value& value) {
  if (!value.is_object()) return fail(ErrorKind::corrupt, "the stored state is not an object");
  const json::object& o = value.get_object();
  State s;
  auto stage_text = get_string(o, "stage");
  if (!stage_text) return propagate(stage_text);
  const auto stage = stage_from(*stage_text);
  if (!stage) return fail(ErrorKind::corrupt, "unknown stage '" + *stage_text + "'");
  s.stage = *stage;
  auto wanted = get_bool(o, "wanted");
  if (!wanted) return propagate(wanted);
  s.wanted = *wanted;
  s.restart_when_stopped = bool_or(o, "restart_when_stopped", false);
  s.reason = string_or(o, "reason", "");
  s.attempt = int_or(o, "attempt", 0);
  s.board = string_or(o, "board", "");
  s.pid = int_or(o, "pid", 0);
  s.resume_from = string_or(o, "resume_from", "");
  s.resume_step = int_or(o, "resume_step", 0);
  s.first_step = int_or(o, "first_step", 0);
  s.last_step = int_or(o, "last_step", 0);
  s.highest_step = int_or(o, "highest_step", 0);
  s.kept_step = int_or(o, "kept_step", 0);
  s.kept_at_launch = int_or(o, "kept_at_launch", 0);
  s.last_loss = number_or(o, "last_loss", 0);
  s.last_cause = string_or(o, "last_cause", "");
  s.attempts_without_progress = static_cast<int>(int_or(o, "attempts_without_progress", 0));
  s.deadline_mono_ms = int_or(o, "deadline_mono_ms", 0);
  s.progress_mono_ms = int_or(o, "progress_mono_ms", 0);
  if (auto times = get_array(o, "step_times_ms")) {
    for (const json::value& time : **times) {
      if (time.is_int64()) s.step_times_ms.push_back(time.get_int64());
    }
  }
  if (auto boards = get_object(o, "boards")) {
    for (const auto& [serial, verdict] : **boards) {
      if (verdict.is_string()) s.boards[std::string(serial)] = std::string(verdict.get_string());
    }
  }
  if (auto kill = get_object(o, "kill")) {
    s.kill = Kill{string_or(**kill, "cause", ""), string_or(**kill, "why", "")};
  }
  if (auto span = get_object(o, "span")) {
    OpenSpan open{int_or(**span, "attempt", 0),
                  string_or(**span, "phase", ""),
                  string_or(**span, "cause", ""),
                  {}};
    if (auto since = get_object(**span, "since")) {
      open.since = {int_or(**since, "wall_ms", 0), int_or(**since, "mono_ms", 0)};
    }
    s.span = open;
  }
  return s;
}

}  // namespace trainward::core
