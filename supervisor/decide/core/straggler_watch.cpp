#include "supervisor/decide/core/straggler_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainward::core {
namespace {

constexpr double slow_below = 0.75;  // of the fastest
constexpr double fine_above = 0.9;
constexpr int windows_in_a_row = 3;
// Of a change: standard deviations that do not count each time, and those that are enough. With
// these, 4,800 devices that scatter by up to 5 % were quiet for 100 windows each.
constexpr int windows_to_learn = 8;
constexpr double allowance = 1.5;
constexpr double enough = 8;
constexpr double least_deviation = 0.05;
constexpr double least_change = 1.15;
constexpr double forgetting = 0.05;
// Below it clocks and interrupts are what is measured.
constexpr double shortest_ms = 0.1;

void learn(DevicePace& pace, double relative, double weight) {
  pace.usual += weight * (relative - pace.usual);
  pace.spread += weight * (std::abs(relative - pace.usual) - pace.spread);
}

bool has_changed(DevicePace& pace, double relative) {
  if (pace.windows < windows_to_learn) {
    ++pace.windows;
    learn(pace, relative, 1.0 / pace.windows);
    return false;
  }
  const double deviation = std::max(1.25 * pace.spread, least_deviation);  // of a normal one
  const double distance = (relative - pace.usual) / deviation;
  pace.shift = std::max(0.0, pace.shift + distance - allowance);
  if (pace.shift > enough && relative > least_change * pace.usual) return true;
  // What is far off is not what is usual.
  if (pace.shift < enough / 2) {
    learn(pace, pace.usual + std::clamp(distance, -3.0, 3.0) * deviation, forgetting);
  }
  return false;
}

double median_without(std::vector<double> times, std::size_t left_out) {
  times.erase(times.begin() + static_cast<std::ptrdiff_t>(left_out));
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::ranges::nth_element(times, middle);
  return *middle;
}

// True: there is something to tell.
bool add(DevicePace& pace, double own, double fastest, double others) {
  const double share = fastest / own;
  pace.slow = share < slow_below ? pace.slow + 1 : 0;
  pace.fine = share > fine_above ? pace.fine + 1 : 0;
  const bool changed = has_changed(pace, own / others);
  if (pace.told) {
    if (pace.fine < windows_in_a_row) return false;
    pace = {};
    return true;
  }
  pace.told = pace.slow >= windows_in_a_row || changed;
  return pace.told;
}

std::string slow_text(const ToldDevice& slow, const ToldDevice& fastest, std::int64_t step) {
  const double own = *slow.figures.compute_ms;
  const double best = *fastest.figures.compute_ms;
  return fmt::format(
      "{} is slow and the others wait for it: up to step {} it computed {} a step, {} {}, {:.2f} "
      "times as long; look at its temperature and clock, and at what else uses it",
      slow.name, step, unit_text(FigureUnit::ms, own), fastest.name,
      unit_text(FigureUnit::ms, best), own / best);
}

}  // namespace

std::vector<std::string> watch_devices(std::vector<DevicePace>& paces, const DeviceWindow& window) {
  std::vector<double> times;
  for (const ToldDevice& device : window.devices) {
    if (device.figures.compute_ms) times.push_back(*device.figures.compute_ms);
  }
  if (times.size() != window.devices.size() || times.size() < 2) return {};
  const auto fastest = static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
  if (times[fastest] < shortest_ms) return {};
  if (paces.size() != times.size()) paces.assign(times.size(), {});
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < paces.size(); ++i) {
    const ToldDevice& device = window.devices[i];
    if (!add(paces[i], times[i], times[fastest], median_without(times, i))) continue;
    notes.push_back(paces[i].told ? slow_text(device, window.devices[fastest], window.step)
                                  : fmt::format("{} keeps up with the others again, as of step {}",
                                                device.name, window.step));
  }
  return notes;
}

}  // namespace trainward::core
