#include "trainer/n300_sim/step_faults.hpp"

namespace trainward::n300 {

bool StepCounter::runs(std::string_view program) {
  const bool updates = program.starts_with("update_");
  const bool begins = begun_ == 0 || (updating_ && !updates);
  updating_ = updates;
  if (begins) ++begun_;
  return begins;
}

bool StepFaults::strikes(const std::optional<Moment>& fault) const {
  return fault && fault->attempt == attempt_ && fault->after_steps == steps_.done();
}

Turn StepFaults::next(std::string_view program) {
  const bool begins = steps_.runs(program);
  Turn turn{Fate::runs, begins};
  if (steps_.updates() && strikes(flip_)) {
    turn.flips = true;
    flip_.reset();
  }
  if (!begins) return turn;
  if (strikes(abort_)) {
    turn.fate = Fate::aborts;
  } else if (strikes(hang_)) {
    turn.fate = Fate::hangs;
  } else if (strikes(ethernet_loss_)) {
    turn.fate = Fate::loses_ethernet;
  }
  return turn;
}

}  // namespace trainward::n300
