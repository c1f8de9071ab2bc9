#include "supervisor/core/deadlines.hpp"

#include <algorithm>
#include <array>

namespace trainward::core {
namespace {

constexpr std::size_t remembered_steps = 128;
constexpr std::int64_t factor = 10;
// The shim reports within milliseconds; a machine that swaps gets this long.
constexpr std::int64_t launch_ms = 30'000;
// After SIGKILL only the kernel can hold a process; asked again at this pace.
constexpr std::int64_t kill_again_ms = 10'000;
constexpr std::int64_t unkillable_again_ms = 60'000;

// The 99th percentile of at most 128 times is the longest or, of more than a hundred, the one after
// it: found in one pass, because every heartbeat asks for it.
std::int64_t nearly_longest(const std::vector<std::int64_t>& times) {
  std::array<std::int64_t, 2> longest{};
  for (std::int64_t time : times) {
    for (std::int64_t& kept : longest) {
      if (time > kept) std::swap(time, kept);
    }
  }
  return longest.at(std::min<std::size_t>((times.size() - 1) / 100, 1));
}

std::int64_t train_ms(const State& state, const Policy& policy) {
  // A program that is not expected to speak is not watched before it has.
  if (!policy.speaks && !policy.watch_cpu && state.first_step == 0) return 0;
  if (policy.learns_first && !policy.watch_cpu && state.step_times_ms.empty()) return 0;
  const Deadlines& deadlines = policy.deadlines;
  // The first step of a run may take longer than anybody thought of when the floor was set.
  if (state.step_times_ms.empty()) return std::max(deadlines.train_floor_ms, deadlines.load_ms);
  return std::max(deadlines.train_floor_ms, factor * nearly_longest(state.step_times_ms));
}

// A restart of our own planning loses nothing only when the step under way may end first. An
// operator who asks for a stop has set how long it may take.
std::int64_t stop_ms(const State& state, const Policy& policy) {
  const std::int64_t configured = policy.deadlines.stop_ms;
  if (!state.kill || state.kill->cause == Cause::stopped || state.step_times_ms.empty()) {
    return configured;
  }
  return std::max(configured, 2 * nearly_longest(state.step_times_ms));
}

}  // namespace

std::int64_t allowed_ms(const State& state, const Policy& policy) {
  switch (state.stage) {
    case Stage::launching:
      return launch_ms;
    case Stage::starting:
      return policy.deadlines.start_ms;
    case Stage::loading:
      return policy.deadlines.load_ms;
    case Stage::compiling:
      return policy.deadlines.compile_ms;
    case Stage::training:
      return train_ms(state, policy);
    case Stage::saving:
      return policy.deadlines.save_ms;
    case Stage::evaluating:
      return policy.deadlines.evaluate_ms;
    case Stage::stopping:
      return stop_ms(state, policy);
    case Stage::killing:
      return kill_again_ms;
    case Stage::unkillable:
      return unkillable_again_ms;
    case Stage::stopped:
    case Stage::repairing:  // bounded by the shell, which runs the command
    case Stage::probing:    // the probe carries its own deadline
    case Stage::selecting:  // bounded by the disk
    case Stage::backoff:    // set when it is entered
    case Stage::exited:
    case Stage::fatal:
      return 0;
  }
  return 0;
}

std::int64_t usual_step_ms(const State& state) {
  if (state.step_times_ms.empty()) return 0;
  std::vector<std::int64_t> times = state.step_times_ms;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

std::int64_t activity_interval_ms(std::int64_t allowed) {
  return std::clamp<std::int64_t>(allowed / 16, 20, 60'000);
}

void learn_step_time(State& state, std::int64_t ms) {
  if (state.step_times_ms.size() >= remembered_steps) {
    state.step_times_ms.erase(state.step_times_ms.begin());
  }
  state.step_times_ms.push_back(ms);
}

}  // namespace trainward::core
