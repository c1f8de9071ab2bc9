#include "supervisor/decide/core/straggler_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainward::core {
namespace {

constexpr double slow_below = 0.75;  // of the fastest
constexpr double fine_above = 0.85;
constexpr int windows_in_a_row = 3;
constexpr int windows_to_learn = 4;
// Of a change: standard deviations that do not count each time, and those that are enough. With
// these a quiet device is called slow once in millions of windows.
constexpr double allowance = 1;
constexpr double enough = 8;
constexpr double least_deviation = 0.03;
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
  pace.shift = std::max(0.0, pace.shift + (relative - pace.usual) / deviation - allowance);
  if (pace.shift == 0) learn(pace, relative, forgetting);
  return pace.shift > enough && relative > least_change * pace.usual;
}

// True: there is something to tell.
bool add(DevicePace& pace, double relative) {
  const double share = 1 / relative;
  pace.slow = share < slow_below ? pace.slow + 1 : 0;
  pace.fine = share > fine_above ? pace.fine + 1 : 0;
  const bool changed = has_changed(pace, relative);
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
  const auto time_of = [](const ToldDevice& device) { return device.figures.compute_ms; };
  const bool told = std::ranges::all_of(
      window.devices, [&](const ToldDevice& device) { return time_of(device).has_value(); });
  if (!told || window.devices.size() < 2) return {};
  const auto fastest = std::ranges::min_element(window.devices, {}, time_of);
  if (*time_of(*fastest) < shortest_ms) return {};
  if (paces.size() != window.devices.size()) paces.assign(window.devices.size(), {});
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < paces.size(); ++i) {
    const ToldDevice& device = window.devices[i];
    if (!add(paces[i], *time_of(device) / *time_of(*fastest))) continue;
    notes.push_back(paces[i].told ? slow_text(device, *fastest, window.step)
                                  : fmt::format("{} keeps up with the others again, as of step {}",
                                                device.name, window.step));
  }
  return notes;
}

}  // namespace trainward::core
