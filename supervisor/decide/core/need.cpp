#include "supervisor/decide/core/need.hpp"

#include "common/base/text.hpp"

namespace trainward::core {
namespace {

constexpr std::int64_t board_patience_ms = 120'000;
constexpr std::int64_t checkpoint_patience_ms = 600'000;
constexpr int ends_to_act = 2;
// What a wait may cure often needs more than one.
constexpr int ends_of_a_wait = 5;

// The attempt that runs is past all that was reached before.
bool got_further(const State& state) {
  return has_worker(state.stage) && (state.history.kept_step > state.current.kept_at_launch ||
                                     state.current.last_step > state.current.highest_at_launch);
}

bool ends_alike(const State& state) {
  const int ends = equal_ends(state.history);
  if (ends == 0) return false;
  const Fault& last = state.history.faults.back();
  // The next attempt asks for less: that is a remedy, and it is still to show what it is worth.
  if (state.next.plan.rung != last.rung) return false;
  return ends >= (facts(last.cause).ladder == ladders::wait ? ends_of_a_wait : ends_to_act);
}

}  // namespace

int equal_ends(const History& history) {
  int ends = 0;
  for (auto fault = history.faults.rbegin(); fault != history.faults.rend(); ++fault) {
    const Fault& last = history.faults.back();
    if (fault->cause != last.cause || fault->step != last.step || fault->rung != last.rung) break;
    ++ends;
  }
  // The first of them may have ended an attempt that got further; none before it counts.
  return std::min(ends, history.attempts_without_progress + 1);
}

Held held_by(const State& state) {
  const History& history = state.history;
  if (facts(shown(state.stage)).over || got_further(state)) return {};
  if (history.without_board_since) {
    return {Snag::no_board, *history.without_board_since + board_patience_ms};
  }
  if (history.missing > 0) {
    return {Snag::no_checkpoint, history.missing_since + checkpoint_patience_ms};
  }
  if (history.disk_refused || history.unreadable > 0) return {Snag::disk, {}};
  if (!history.missing_file.empty()) return {Snag::missing_file, {}};
  if (ends_alike(state)) return {Snag::same_end, {}};
  return {};
}

json::object plight_of(const State& state, Time now) {
  const Held held = held_by(state);
  json::object plight{
      {"held", json::object{{"snag", to_string(held.snag)}, {"from_ms", held.from.ms}}}};
  if (state.stage == Stage::backoff && state.watch.deadline_mono_ms) {
    plight["waits_until_ms"] = now.wall.ms + (*state.watch.deadline_mono_ms - now.mono);
  }
  if (state.boards.smaller && has_worker(state.stage)) {
    plight["smaller_mesh"] = mesh_words(state.boards);
  }
  return plight;
}

Snag snag_at(const State& state, WallTime now) {
  const Held held = held_by(state);
  return held.from <= now ? held.snag : Snag::none;
}

}  // namespace trainward::core
