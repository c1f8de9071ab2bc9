#include "supervisor/decide/core/straggler_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainward::core {
namespace {

// Logarithms of how many times as long as the others it computes.
const double slow_from = std::log(1 / 0.75) - 0.02;
const double changed_from = std::log(1.15);
const double fine_below = std::log(1.1);

// Of the mean over the newest windows; three errors of it are what is certain.
constexpr int windows_of_mean = 8;
constexpr int least_windows = 3;
constexpr double errors = 3;
constexpr double least_scatter = 0.01;
// Of a change: windows until the usual pace is known; standard deviations that do not count each
// time, the most that count, and those that are enough.
constexpr int windows_to_learn = 16;
constexpr double allowance = 1;
constexpr double most = 3;
constexpr double enough = 8;
constexpr double least_deviation = 0.05;
constexpr double forgetting = 0.05;
// One that recovers is not told of again for so long, then twice as long, …
constexpr int first_quiet = 20;
constexpr int most_doublings = 10;
// Below it clocks and interrupts are what is measured.
constexpr double shortest_ms = 0.1;

void add(DevicePace& pace, double relative) {
  ++pace.windows;
  const double weight = pace.windows <= windows_of_mean ? 1.0 / pace.windows : 1.0 / 6;
  const double distance = relative - pace.mean;
  pace.mean += weight * distance;
  pace.variance = (1 - weight) * (pace.variance + weight * distance * distance);
  pace.newest = pace.windows == 1 ? relative : (pace.newest + relative) / 2;
}

double error_of_mean(const DevicePace& pace) {
  const int n = std::min(pace.windows, windows_of_mean);
  const double variance = pace.variance * n / std::max(n - 1, 1);
  return std::max(std::sqrt(variance), least_scatter) / std::sqrt(n);
}

void learn(DevicePace& pace, double relative, double weight) {
  pace.usual += weight * (relative - pace.usual);
  pace.spread += weight * (std::abs(relative - pace.usual) - pace.spread);
}

bool has_changed(DevicePace& pace, double relative) {
  if (pace.windows <= windows_to_learn) {
    learn(pace, relative, 1.0 / pace.windows);
    return false;
  }
  const double deviation = std::max(1.25 * pace.spread, least_deviation);  // of a normal one
  const double distance = std::clamp((relative - pace.usual) / deviation, -most, most);
  pace.shift = std::max(0.0, pace.shift + distance - allowance);
  if (pace.shift >= enough) return pace.newest - pace.usual > changed_from;
  // What is far off is not what is usual.
  if (pace.shift < enough / 2) learn(pace, pace.usual + distance * deviation, forgetting);
  return false;
}

// True: there is something to tell.
bool watch(DevicePace& pace, double relative) {
  add(pace, relative);
  const bool changed = has_changed(pace, relative);
  const double error = error_of_mean(pace);
  if (pace.told) {
    if (pace.mean + error >= fine_below || pace.newest >= changed_from) return false;
    pace.told = false;
    pace.shift = 0;
    pace.quiet = first_quiet << std::min(pace.recoveries++, most_doublings);
    return true;
  }
  if (pace.quiet > 0) {
    --pace.quiet;
    return false;
  }
  const bool slow = pace.windows >= least_windows && pace.mean - errors * error > slow_from;
  pace.told = slow || changed;
  return pace.told;
}

double median_without(std::vector<double> times, std::size_t left_out) {
  times.erase(times.begin() + static_cast<std::ptrdiff_t>(left_out));
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::ranges::nth_element(times, middle);
  return *middle;
}

std::string slow_text(const ToldDevice& slow, double others_ms, std::int64_t step) {
  const double own_ms = *slow.figures.compute_ms;
  return fmt::format(
      "{} is slow and the others wait for it: up to step {} it computed {} a step, the others {}, "
      "{:.2f} times as long; look at its temperature and clock, and at what else uses it",
      slow.name, step, unit_text(FigureUnit::ms, own_ms), unit_text(FigureUnit::ms, others_ms),
      own_ms / others_ms);
}

}  // namespace

std::vector<std::string> watch_devices(std::vector<DevicePace>& paces, const DeviceWindow& window) {
  std::vector<double> times;
  for (const ToldDevice& device : window.devices) {
    if (device.figures.compute_ms) times.push_back(*device.figures.compute_ms);
  }
  if (times.size() != window.devices.size() || times.size() < 2) return {};
  if (std::ranges::min(times) < shortest_ms) return {};
  if (paces.size() != times.size()) paces.assign(times.size(), {});
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < paces.size(); ++i) {
    const ToldDevice& device = window.devices[i];
    const double others = median_without(times, i);
    if (!watch(paces[i], std::log(times[i] / others))) continue;
    notes.push_back(paces[i].told ? slow_text(device, others, window.step)
                                  : fmt::format("{} keeps up with the others again, as of step {}",
                                                device.name, window.step));
  }
  return notes;
}

}  // namespace trainward::core
