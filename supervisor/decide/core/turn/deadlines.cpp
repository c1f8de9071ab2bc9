#include "supervisor/decide/core/turn/deadlines.hpp"

#include <algorithm>
#include <numeric>

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
  std::int64_t longest = 0;
  std::int64_t second = 0;
  for (const std::int64_t time : times) {
    if (time <= second) continue;
    second = std::min(time, longest);
    longest = std::max(time, longest);
  }
  return times.size() > 100 ? second : longest;
}

// Output that is kept back comes in bursts: a hundred steps within milliseconds, and then nothing
// for minutes. Until steps were seen over some time, nobody knows.
bool knows_the_clock(const State& state, const Policy& policy) {
  constexpr std::int64_t some_time_ms = 10'000;
  const std::vector<std::int64_t>& times = state.watch.step_times_ms;
  if (times.empty() || !policy.foreign) return !times.empty();
  const std::int64_t seen = std::accumulate(times.begin(), times.end(), std::int64_t{0});
  return seen >= std::min(some_time_ms, policy.deadlines.train_floor_ms / 30);
}

// A hang there before may have been none: output kept back, a long evaluation.
bool hung_here_before(const State& state, const Policy& policy) {
  return policy.foreign && state.history.hang_step &&
         state.history.hang_step == state.current.last_step;
}

std::int64_t train_ms(const State& state, const Policy& policy) {
  const Deadlines& deadlines = policy.deadlines;
  if (shows_nothing(state, policy)) return deadlines.silence_ms;
  // The first step of a run may take longer than anybody thought of when the floor was set.
  if (!knows_the_clock(state, policy)) {
    return std::max(deadlines.train_floor_ms, deadlines.load_ms);
  }
  const std::int64_t usual =
      std::max(deadlines.train_floor_ms, factor * nearly_longest(state.watch.step_times_ms));
  constexpr std::int64_t as_long_again = 4;
  return hung_here_before(state, policy)
             ? std::max(usual, as_long_again * state.history.hang_silent_ms)
             : usual;
}

// A restart of our own planning loses nothing only when the step under way may end first. An
// operator who asks for a stop has set how long it may take.
std::int64_t stop_ms(const State& state, const Policy& policy) {
  const std::int64_t configured = policy.deadlines.stop_ms;
  if (!state.current.kill || state.current.kill->cause == Cause::stopped ||
      state.watch.step_times_ms.empty()) {
    return configured;
  }
  return std::max(configured, 2 * nearly_longest(state.watch.step_times_ms));
}

}  // namespace

bool shows_nothing(const State& state, const Policy& policy) {
  return !policy.speaks && !policy.watch_cpu && !state.current.first_step;
}

bool stepped_before(const State& state) {
  return state.history.highest_step && !state.current.first_step;
}

bool silence_is_no_proof(const State& state, const Policy& policy) {
  return policy.watch_cpu || shows_nothing(state, policy) ||
         (policy.foreign && !knows_the_clock(state, policy)) || hung_here_before(state, policy);
}

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
  if (state.watch.step_times_ms.empty()) return 0;
  std::vector<std::int64_t> times = state.watch.step_times_ms;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

std::int64_t activity_interval_ms(std::int64_t allowed) {
  return std::clamp<std::int64_t>(allowed / 16, 20, 60'000);
}

void learn_step_time(State& state, const Policy& policy, std::int64_t ms) {
  // Steps of one burst say nothing; the gaps between bursts are how long its steps take at most.
  constexpr std::int64_t of_one_burst = 50;
  if (policy.foreign && !state.watch.step_times_ms.empty() &&
      ms * of_one_burst < nearly_longest(state.watch.step_times_ms)) {
    return;
  }
  if (state.watch.step_times_ms.size() >= remembered_steps) {
    state.watch.step_times_ms.erase(state.watch.step_times_ms.begin());
  }
  state.watch.step_times_ms.push_back(ms);
}

}  // namespace trainward::core
