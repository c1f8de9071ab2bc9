#include "supervisor/core/state.hpp"

#include <algorithm>
#include <array>

namespace trainward::core {
namespace {

struct StageName {
  Stage stage;
  std::string_view name;
  std::string_view display;
  bool worker;
};

constexpr std::array<StageName, 17> stages{{
    {Stage::stopped, "stopped", "STOPPED", false},
    {Stage::repairing, "repairing", "STARTING", false},
    {Stage::probing, "probing", "STARTING", false},
    {Stage::selecting, "selecting", "STARTING", false},
    {Stage::launching, "launching", "STARTING", true},
    {Stage::starting, "starting", "STARTING", true},
    {Stage::loading, "loading", "STARTING", true},
    {Stage::compiling, "compiling", "STARTING", true},
    {Stage::training, "training", "RUNNING", true},
    {Stage::saving, "saving", "RUNNING", true},
    {Stage::evaluating, "evaluating", "RUNNING", true},
    {Stage::stopping, "stopping", "STOPPING", true},
    {Stage::killing, "killing", "STOPPING", true},
    {Stage::unkillable, "unkillable", "UNKILLABLE", true},
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

std::int64_t next_timer_ms(const State& state) {
  const std::int64_t deadline = state.deadline_mono_ms;
  const std::int64_t look = state.activity.next_mono_ms;
  if (deadline == 0 || look == 0) return std::max(deadline, look);
  return std::min(deadline, look);
}

bool another_host_may_help(const State& state) {
  constexpr std::array<std::string_view, 6> program_faults{
      "do_not_requeue", "nan", "loss_spike", "data", "resume_contract", "config"};
  return std::find(program_faults.begin(), program_faults.end(), state.last_cause) ==
         program_faults.end();
}

}  // namespace trainward::core
