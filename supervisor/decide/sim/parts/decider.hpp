// Supervises the simulated run: receives events, answers with actions.
//
// It is a step like the core's, so that one world, and one session in it, serves the core and the
// policies it is compared with (policies.hpp).
#pragma once

#include "supervisor/decide/session/session.hpp"
#include "supervisor/decide/sim/parts/sim_machine.hpp"

namespace trainward::sim {

struct Decider {
  core::Policy policy;
  session::Step step = core::step;
  Habits habits = {};
  bool promises = true;  // the invariants apply to it
};

// The policy a careful operator would configure for this set-up.
core::Policy policy_for(const Setup& setup);

}  // namespace trainward::sim
