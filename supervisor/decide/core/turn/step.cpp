#include "supervisor/decide/core/turn/step.hpp"

#include "supervisor/decide/core/turn/turn.hpp"

namespace trainward::core {

void step(State& state, const Event& event, const Policy& policy, Time now, Actions& actions) {
  Turn(state, policy, now, actions).take(event);
}

}  // namespace trainward::core
