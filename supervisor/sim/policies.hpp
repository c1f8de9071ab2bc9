// The two ways of supervising that the core is compared with, and what is assumed about each
// (docs/simulation.md).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/sim/decider.hpp"

namespace trainward::sim {

// What the two have in common: they keep no state of the core's but the stage, and nothing
// compiled.
class PlainDecider : public Decider {
 public:
  [[nodiscard]] std::int64_t timer_ms() const override { return wake_ms_; }
  [[nodiscard]] const core::State& state() const override { return state_; }
  [[nodiscard]] Habits habits() const override { return {false, false, false}; }
  [[nodiscard]] const core::Policy& policy() const override { return policy_; }

 protected:
  [[nodiscard]] bool woken(const core::Event& event, Time now) const;

  core::State state_;
  core::Policy policy_;
  std::int64_t wake_ms_ = 0;
};

// A shell loop: looks every half hour, starts again from the beginning, gives up after five
// attempts without a word, keeps nothing compiled, notices no hang.
class WrapperDecider : public PlainDecider {
 public:
  core::Actions decide(const core::Event& event, Time now) override;

 private:
  core::Actions launch();

  std::int64_t first_look_ms_ = 0;
  int attempts_here_ = 0;
};

// A service manager or an elastic launcher: notices an exit at once, waits longer each time,
// resumes from the newest checkpoint file without looking into it, keeps nothing compiled, notices
// no hang.
class RetryDecider : public PlainDecider {
 public:
  core::Actions decide(const core::Event& event, Time now) override;

 private:
  int failures_ = 0;
};

// "wrapper", "retry", "trainward"; nothing for another word.
std::unique_ptr<Decider> make_decider(std::string_view name, const Setup& setup);
std::vector<std::string> decider_names();

}  // namespace trainward::sim
