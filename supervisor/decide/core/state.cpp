#include "supervisor/decide/core/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace trainward::core {
namespace {

struct StageName {
  Stage stage;
  std::string_view name;
  Shown shown;
  bool worker;
};

constexpr std::array<StageName, 17> stages{{
    {Stage::stopped, "stopped", Shown::stopped, false},
    {Stage::repairing, "repairing", Shown::starting, false},
    {Stage::probing, "probing", Shown::starting, false},
    {Stage::selecting, "selecting", Shown::starting, false},
    {Stage::launching, "launching", Shown::starting, true},
    {Stage::starting, "starting", Shown::starting, true},
    {Stage::loading, "loading", Shown::starting, true},
    {Stage::compiling, "compiling", Shown::starting, true},
    {Stage::training, "training", Shown::running, true},
    {Stage::saving, "saving", Shown::running, true},
    {Stage::evaluating, "evaluating", Shown::running, true},
    {Stage::stopping, "stopping", Shown::stopping, true},
    {Stage::killing, "killing", Shown::stopping, true},
    {Stage::unkillable, "unkillable", Shown::unkillable, true},
    {Stage::backoff, "backoff", Shown::backoff, false},
    {Stage::exited, "exited", Shown::exited, false},
    {Stage::fatal, "fatal", Shown::fatal, false},
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
Shown shown(Stage stage) { return row(stage).shown; }
std::string_view display(Stage stage) { return to_string(shown(stage)); }
bool has_worker(Stage stage) { return row(stage).worker; }
bool is_on_the_way(Stage stage) { return stage == Stage::probing || stage == Stage::selecting; }

bool from_string(std::string_view name, Stage& stage) {
  const auto* const found = std::ranges::find(stages, name, &StageName::name);
  if (found == stages.end()) return false;
  stage = found->stage;
  return true;
}

std::vector<std::string> serials_of(const Boards& boards) {
  std::vector<std::string> serials;
  if (!boards.board.empty()) serials.push_back(boards.board);
  for (const HeldBoard& held : boards.more_boards) serials.push_back(held.serial);
  return serials;
}

std::string mesh_words(const Boards& boards) {
  if (boards.board.empty()) return {};
  if (!boards.smaller) return boards.known_mesh.shape;
  return fmt::format("{} of {}", boards.smaller->shape, boards.smaller->full);
}

std::optional<MonoTime> next_timer(const State& state) {
  std::optional<MonoTime> next;
  for (const std::optional<MonoTime>& at :
       {state.watch.deadline_mono_ms, state.watch.activity.next_mono_ms,
        state.boards.growth.look_mono_ms}) {
    if (at && (!next || *at < *next)) next = at;
  }
  return next;
}

}  // namespace trainward::core
