// A program under a virtual clock: feeds events to the core and remembers what it asked for.
#pragma once

#include <utility>
#include <vector>

#include "supervisor/decide/core/turn/step.hpp"

namespace trainward::core {

struct World {
  Policy policy;
  State state;
  Time time{1'700'000'000'000, 1'000};
  Actions all;   // of every event so far
  Actions last;  // of the newest event

  World& feed(const Event& event, std::int64_t after_ms = 0) {
    time.wall += after_ms;
    time.mono += after_ms;
    last.clear();
    step(state, event, policy, time, last);
    all.insert(all.end(), last.begin(), last.end());
    return *this;
  }

  // To the first step of a worker that resumes from `kept`.
  World& run_to_training(std::int64_t kept = 0) {
    feed(StartRequested{});
    return attempt_to_training(kept);
  }
  World& attempt_to_training(std::int64_t kept) {
    feed(CheckpointSelected{kept == 0 ? "" : "/c/step", kept, ""});
    feed(WorkerStarted{42}, 5);
    feed(PhaseEntered{"load"}, 5);
    feed(Resumed{kept}, 5);
    return feed(PhaseEntered{"train"}, 5);
  }
  World& steps(std::int64_t from, std::int64_t to, std::int64_t each_ms = 10) {
    for (std::int64_t s = from; s <= to; ++s) feed(StepDone{s, 1.0, 1.0, {}, s * 10, 100}, each_ms);
    return *this;
  }

  template <typename A>
  [[nodiscard]] std::vector<A> every() const {
    return pick<A>(all);
  }
  template <typename A>
  [[nodiscard]] std::vector<A> newest() const {
    return pick<A>(last);
  }

 private:
  template <typename A>
  static std::vector<A> pick(const Actions& actions) {
    std::vector<A> found;
    for (const Action& action : actions) {
      if (const auto* a = std::get_if<A>(&action)) found.push_back(*a);
    }
    return found;
  }
};

inline WorkerExited exited_with(int code) {
  WorkerExited event;
  event.code = code;
  return event;
}
inline WorkerExited ended_by(int signal) {
  WorkerExited event;
  event.signal = signal;
  return event;
}

}  // namespace trainward::core
