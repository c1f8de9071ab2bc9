#include "supervisor/decide/sim/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <vector>

namespace trainward::sim {
namespace {

constexpr std::array<std::string_view, fault_kinds> faults{
    "crash",       "error",          "device_oom",    "host_oom",        "killed",
    "hang",        "busy_hang",      "ignores_term",  "unkillable",      "slow_compile",
    "bad_data",    "spike",          "resume_breach", "ask_again",       "config_error",
    "shim_killed", "launch_fails",   "link_lost",     "board_dead",      "probe_hangs",
    "reset_fails", "corrupt_newest", "select_fails",  "lease_held",      "cache_corrupt",
    "disk_full",   "database_busy",  "daemon_killed", "machine_restart", "wall_jump",
    "stop",        "start",          "restart",       "shutdown"};
constexpr std::array<std::string_view, 7> moments{"any",   "start", "load", "compile",
                                                  "train", "save",  "stop"};

template <std::size_t n>
std::optional<std::size_t> index_of(const std::array<std::string_view, n>& names,
                                    std::string_view word) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

std::optional<std::int64_t> read_true_time(const std::string& word) {
  long long days = 0;
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  int ms = 0;
  char d = 0;
  char c1 = 0;
  char c2 = 0;
  char dot = 0;
  std::istringstream in(word);
  in >> days >> d >> hours >> c1 >> minutes >> c2 >> seconds >> dot >> ms;
  if (!in || d != 'd' || c1 != ':' || c2 != ':' || dot != '.') return std::nullopt;
  return days * day_ms + hours * hour_ms + minutes * minute_ms + seconds * second_ms + ms;
}

std::optional<Injection> read_injection(std::istringstream& in) {
  std::string time;
  std::string fault;
  Injection injection;
  if (!(in >> time >> fault >> injection.amount)) return std::nullopt;
  const auto at = read_true_time(time);
  const auto kind = index_of(faults, fault);
  if (!at || !kind) return std::nullopt;
  injection.at_ms = *at;
  injection.fault = static_cast<Fault>(*kind);
  std::string word;
  if (!(in >> word)) return injection;
  std::string moment;
  if (word != "in" || !(in >> moment)) return std::nullopt;
  const auto which = index_of(moments, moment);
  if (!which) return std::nullopt;
  injection.moment = static_cast<Moment>(*which);
  return injection;
}

}  // namespace

std::string_view to_string(Fault fault) { return faults.at(static_cast<std::size_t>(fault)); }
std::string_view to_string(Moment moment) { return moments.at(static_cast<std::size_t>(moment)); }

std::string true_time(std::int64_t ms) {
  return fmt::format("{}d{:02}:{:02}:{:02}.{:03}", ms / day_ms, ms / hour_ms % 24,
                     ms / minute_ms % 60, ms / second_ms % 60, ms % second_ms);
}

std::string to_text(const Scenario& scenario) {
  std::string text = fmt::format("scenario {}\n", scenario.name);
  const Setup usual;
  std::vector<std::int64_t> defaults;
  fields(usual,
         [&](const char* /*name*/, const std::int64_t& value) { defaults.push_back(value); });
  std::size_t i = 0;
  fields(scenario.setup, [&](const char* name, const std::int64_t& value) {
    if (value != defaults.at(i++)) text += fmt::format("{} {}\n", name, value);
  });
  for (const Injection& injection : scenario.injections) {
    text += fmt::format("at {} {} {}", true_time(injection.at_ms), to_string(injection.fault),
                        injection.amount);
    if (injection.moment != Moment::any) text += fmt::format(" in {}", to_string(injection.moment));
    text += '\n';
  }
  return text;
}

Result<Scenario> scenario_from_text(std::string_view text) {
  Scenario scenario;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream in(line);
    std::string word;
    if (!(in >> word) || word.front() == '#') continue;
    bool understood = false;
    if (word == "scenario") {
      understood = static_cast<bool>(in >> scenario.name);
    } else if (word == "at") {
      if (auto injection = read_injection(in)) {
        scenario.injections.push_back(*injection);
        understood = true;
      }
    } else {
      fields(scenario.setup, [&](const char* name, std::int64_t& value) {
        if (word == name) understood = static_cast<bool>(in >> value);
      });
    }
    if (!understood) {
      return fail(ErrorKind::usage, fmt::format("cannot be understood: '{}'", line),
                  fmt::format("line {}", number));
    }
  }
  return scenario;
}

}  // namespace trainward::sim
