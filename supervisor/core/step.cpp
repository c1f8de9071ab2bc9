#include "supervisor/core/step.hpp"

#include "supervisor/core/turn.hpp"

namespace trainward::core {

Outcome step(State state, const Event& event, const Policy& policy, Time now) {
  return Turn(std::move(state), policy, now).take(event);
}

}  // namespace trainward::core
