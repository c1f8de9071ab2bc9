// Plays scenarios and holds every promise of the supervisor against them.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "supervisor/decide/sim/policies.hpp"
#include "supervisor/decide/sim/scenario.hpp"
#include "supervisor/decide/sim/shrink.hpp"
#include "supervisor/decide/sim/trace.hpp"
#include "supervisor/decide/sim/world.hpp"

namespace trainward::sim {

inline Outcome play_ours(const Scenario& scenario) {
  return play(scenario, core_decider(scenario.setup));
}

inline void expect_promises(const std::string& name, std::uint64_t first, std::uint64_t last) {
  std::int64_t events = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const Scenario scenario = *make_scenario(name, seed, 14);
    const Outcome outcome = play_ours(scenario);
    events += outcome.events;
    if (!outcome.violation) continue;
    const Scenario small = shrink(
        scenario, outcome.violation->promise,
        [](const Scenario& s) { return play_ours(s).violation; }, 200);
    FAIL() << "seed " << seed << ": " << to_string(outcome.violation->promise) << ": "
           << outcome.violation->what << "\n\n"
           << to_text(small);
  }
  std::printf("%s: seeds %llu to %llu, 14 days each, %lld events\n", name.c_str(),
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(last),
              static_cast<long long>(events));
}

}  // namespace trainward::sim
