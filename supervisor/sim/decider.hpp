// Whoever supervises the simulated run: told what happens, answers with what is to be done.
//
// It speaks the core's events and actions, so that one world serves the core and the policies it is
// compared with (policies.hpp).
#pragma once

#include <cstdint>

#include "supervisor/core/step.hpp"
#include "supervisor/sim/machine.hpp"

namespace trainward::sim {

class Decider {
 public:
  Decider() = default;
  Decider(const Decider&) = delete;
  Decider& operator=(const Decider&) = delete;
  virtual ~Decider() = default;

  virtual core::Actions decide(const core::Event& event, Time now) = 0;
  // When it wants TimerFired, on the monotonic clock; 0: not at all.
  [[nodiscard]] virtual std::int64_t timer_ms() const = 0;
  // What it has committed. The invariants are about this state.
  [[nodiscard]] virtual const core::State& state() const = 0;
  [[nodiscard]] virtual Habits habits() const = 0;
  // Whether the invariants apply to it.
  [[nodiscard]] virtual bool promises() const { return false; }
  [[nodiscard]] virtual const core::Policy& policy() const = 0;
};

// The core under test.
class CoreDecider : public Decider {
 public:
  explicit CoreDecider(core::Policy policy) : policy_(policy) {}

  core::Actions decide(const core::Event& event, Time now) override {
    core::Outcome outcome = core::step(std::move(state_), event, policy_, now);
    state_ = std::move(outcome.state);
    return std::move(outcome.actions);
  }
  [[nodiscard]] std::int64_t timer_ms() const override { return core::next_timer_ms(state_); }
  [[nodiscard]] const core::State& state() const override { return state_; }
  [[nodiscard]] Habits habits() const override { return {}; }
  [[nodiscard]] bool promises() const override { return true; }
  [[nodiscard]] const core::Policy& policy() const override { return policy_; }

 protected:
  core::State state_;

 private:
  core::Policy policy_;
};

// The policy a careful operator would configure for this set-up.
core::Policy policy_for(const Setup& setup);

}  // namespace trainward::sim
