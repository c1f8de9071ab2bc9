#include "supervisor/decide/sim/sim_command.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <fstream>
#include <ostream>
#include <sstream>

#include "supervisor/decide/sim/compare.hpp"
#include "supervisor/decide/sim/policies.hpp"
#include "supervisor/decide/sim/scenario.hpp"
#include "supervisor/decide/sim/shrink.hpp"
#include "supervisor/decide/sim/trace.hpp"
#include "supervisor/decide/sim/world.hpp"

namespace trainward::sim {
namespace {

constexpr int usage = 2;

Outcome play_ours(const Scenario& scenario) { return play(scenario, core_decider(scenario.setup)); }

Outcome play_aloud(const Scenario& scenario, std::ostream& out) {
  const Decider decider = core_decider(scenario.setup);
  World world(scenario, decider);
  world.tell([&out](std::int64_t at_ms, const std::string& line) {
    out << true_time(at_ms) << ' ' << line << '\n';
  });
  return world.run();
}

std::string verdict(const Violation& violation) {
  return fmt::format("the promise '{}' is broken at {}: {}", to_string(violation.promise),
                     true_time(violation.at_ms), violation.what);
}

int report_broken(const Scenario& scenario, const Violation& violation, bool json_wanted,
                  std::ostream& out) {
  const Scenario small =
      shrink(scenario, violation.promise, [](const Scenario& s) { return play_ours(s).violation; });
  const std::string text = to_text(small);
  if (json_wanted) {
    out << json::serialize(json::object{{"ok", false},
                                        {"seed", scenario.setup.seed},
                                        {"promise", std::string(to_string(violation.promise))},
                                        {"what", violation.what},
                                        {"trace", text}})
        << '\n';
    return 1;
  }
  out << "seed " << scenario.setup.seed << ": " << verdict(violation) << "\n\n"
      << "the shortest scenario found that breaks it:\n\n"
      << text << '\n';
  if (const auto again = play_ours(small).violation) out << "there: " << verdict(*again) << '\n';
  out << "to see it: put the scenario into a file, and run trainward-sim --replay FILE --trace\n";
  return 1;
}

int play_one(const Scenario& scenario, const Request& request, std::ostream& out) {
  const Outcome outcome = request.trace ? play_aloud(scenario, out) : play_ours(scenario);
  if (request.json && !outcome.violation) {
    out << json::serialize(json::object{{"ok", true},
                                        {"events", outcome.events},
                                        {"digest", fmt::format("{:016x}", outcome.digest)},
                                        {"steps", outcome.score.furthest},
                                        {"effective", outcome.score.effective()}})
        << '\n';
    return 0;
  }
  if (outcome.violation) {
    if (!request.replay.empty() && !request.json) {
      out << verdict(*outcome.violation) << '\n';
      return 1;
    }
    return report_broken(scenario, *outcome.violation, request.json, out);
  }
  out << fmt::format(
      "every promise held over {} events: {} steps, {:.1f} % effective, {} attempts, "
      "digest {:016x}\n",
      outcome.events, outcome.score.furthest, 100 * outcome.score.effective(),
      outcome.score.attempts, outcome.digest);
  return 0;
}

int play_many(const Request& request, std::ostream& out) {
  std::int64_t events = 0;
  const auto began = std::chrono::steady_clock::now();
  for (std::uint64_t seed = request.first_seed; seed <= request.last_seed; ++seed) {
    const auto scenario = make_scenario(request.scenario, seed, request.days);
    const Outcome outcome = play_ours(*scenario);
    events += outcome.events;
    if (outcome.violation) return report_broken(*scenario, *outcome.violation, request.json, out);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const std::uint64_t seeds = request.last_seed - request.first_seed + 1;
  if (request.json) {
    out << json::serialize(json::object{
               {"ok", true}, {"seeds", seeds}, {"events", events}, {"seconds", seconds}})
        << '\n';
    return 0;
  }
  out << fmt::format(
      "every promise held: seeds {} to {} of {}, {} days each, {} events in {:.1f} s ({:.0f} a "
      "second)\n",
      request.first_seed, request.last_seed, request.scenario, request.days, events, seconds,
      static_cast<double>(events) / seconds);
  return 0;
}

int play_compare(const Request& request, std::ostream& out) {
  std::vector<Scenario> scenarios;
  for (std::uint64_t seed = request.first_seed; seed <= request.last_seed; ++seed) {
    scenarios.push_back(*make_scenario(request.scenario, seed, request.days));
  }
  const auto rows = compare(scenarios);
  if (request.json) {
    out << json::serialize(to_json(rows)) << '\n';
    return 0;
  }
  out << fmt::format("{}, {} days, means over seeds {} to {}\n\n", request.scenario, request.days,
                     request.first_seed, request.last_seed)
      << to_table(rows);
  return 0;
}

}  // namespace

bool read_seeds(const std::string& text, Request& request) {
  const char* end = text.data() + text.size();
  auto [rest, bad] = std::from_chars(text.data(), end, request.first_seed);
  if (bad != std::errc()) return false;
  request.last_seed = request.first_seed;
  if (rest == end) return true;
  if (*rest != '-') return false;
  const auto second = std::from_chars(rest + 1, end, request.last_seed);
  return second.ec == std::errc() && second.ptr == end && request.last_seed >= request.first_seed;
}

int carry_out(const Request& request, std::ostream& out, std::ostream& err) {
  if (request.list) {
    for (const ScenarioName& one : scenario_names()) {
      out << fmt::format("{:<16} {}\n", one.name, one.what);
    }
    return 0;
  }
  if (!request.replay.empty()) {
    std::ifstream file(request.replay);
    std::ostringstream text;
    text << file.rdbuf();
    auto scenario = scenario_from_text(text.str());
    if (!scenario) {
      err << "trainward-sim: " << request.replay << ": " << scenario.error().message() << '\n';
      return usage;
    }
    return play_one(*scenario, request, out);
  }
  if (!make_scenario(request.scenario, 1, 1)) {
    err << "trainward-sim: no scenario is called '" << request.scenario << "'; --list names them\n";
    return usage;
  }
  if (request.compare) return play_compare(request, out);
  if (request.first_seed != request.last_seed) return play_many(request, out);
  return play_one(*make_scenario(request.scenario, request.first_seed, request.days), request, out);
}

}  // namespace trainward::sim
