// From a mesh that no longer fits to a smaller one, and back.
#include <algorithm>
#include <bit>
#include <utility>

#include "common/base/text.hpp"
#include "supervisor/decide/core/turn/turn.hpp"

namespace trainward::core {

void Turn::take_whole_mesh(const ProbeFinished& probe) {
  Boards& boards = state_.boards;
  state_.history.rungs.erase(Cause::no_board);
  // Another one may be configured meanwhile.
  if (std::exchange(boards.smaller, {}) && probe.set) {
    note("placement", fmt::format("the full mesh of {} is there again", probe.set->mesh.shape));
    boards.growth.moved_wall_ms = now_.wall;
    boards.growth.chips = 0;
    state_.next.plan = std::exchange(boards.growth.plan, {});
  }
  if (!probe.set) {
    boards.known_mesh = {};
    return;
  }
  if (const std::string& lacks = probe.set->lacks; boards.mesh_lacks != lacks) {
    boards.mesh_lacks = lacks;
    note("placement", lacks.empty() ? "its mesh has all links again that it once had" : lacks);
  }
  const KnownMesh& now = probe.set->mesh;
  KnownMesh& known = boards.known_mesh;
  if (!known.proven || known.shape != now.shape) {
    known = now;
  } else if (now.links >= known.links) {
    known.pairs = now.pairs;
    known.links = now.links;
  }
}

// When nothing that a reset could bring back is left to try: wait_for_board() begins one after 1,
// 2, 4, 8, … looks in vain.
bool Turn::take_smaller(const ProbeFinished& probe) {
  if (!probe.smaller) return false;
  const auto looks = static_cast<std::uint32_t>(state_.history.rungs[Cause::no_board]);
  if (policy_.can_reset && std::bit_width(looks) < std::ssize(to_be_reset(probe))) return false;
  if (!take_set(probe, probe.smaller->serials)) return false;
  Boards& boards = state_.boards;
  // Otherwise it is what the run has moved to.
  if (boards.growth.chips == 0 || probe.smaller->mesh.chips < boards.growth.chips) {
    lose(boards.growth, now_.wall);
  }
  // Another mesh has another ladder; how far the first one had come is kept for the way back.
  if (!boards.smaller) boards.growth.plan = state_.next.plan;
  const SmallerMesh& mesh = probe.smaller->mesh;
  if (boards.smaller != mesh) {
    boards.smaller = mesh;
    note("placement", mesh.why);
    note("placement",
         fmt::format("on a mesh of {} instead of {}, where {}; back once it fits, which "
                     "is looked at every {}",
                     mesh.shape, mesh.full, probe.smaller->cost,
                     human_duration(pause_ms(boards.growth, policy_.grow_after_ms))));
  }
  return true;
}

void Turn::look_for_growth_if_due() {
  std::optional<MonoTime>& look = state_.boards.growth.look_mono_ms;
  if (!look || now_.mono < *look) return;
  look.reset();
  if (!state_.boards.smaller || !listening()) return;
  look = now_.mono + pause_ms(state_.boards.growth, policy_.grow_after_ms);
  act(Probe{});
}

// A look while the attempt runs on a smaller mesh. What cannot be used now is looked for again.
void Turn::grow_if_possible(const ProbeFinished& probe) {
  const std::optional<SmallerMesh>& now = state_.boards.smaller;
  if (!now || !probe.error.empty() || !probe.set) return;
  const bool whole = !probe.set->serials.empty();
  const bool larger = probe.smaller && probe.smaller->mesh.chips > now->chips;
  if (!whole && !larger) return;
  if (!state_.current.first_step || in_last_step() || !safe_to_restart()) return;
  Growth& growth = state_.boards.growth;
  growth.moved_wall_ms = now_.wall;
  growth.chips = whole ? 0 : probe.smaller->mesh.chips;
  stop_for(Cause::larger_mesh,
           whole ? fmt::format("the full mesh of {} is there again, and the run moves back to it "
                               "from {}",
                               now->full, now->shape)
                 : fmt::format("a mesh of {} fits now, and the run moves to it from {}",
                               probe.smaller->mesh.shape, now->shape));
}

// Somebody has looked at the host: what it has now is what it is to have.
void Turn::forget_mesh() {
  state_.boards.growth = {};
  state_.boards.known_mesh = {};
}

}  // namespace trainward::core
