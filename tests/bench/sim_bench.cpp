// How many events a second the core decides in the simulated world: with everything around it, and
// alone. The events of "core alone" are those of a chaotic fortnight, recorded first.

#include <benchmark/benchmark.h>

#include "supervisor/decide/sim/policies.hpp"
#include "supervisor/decide/sim/scenario.hpp"
#include "supervisor/decide/sim/world.hpp"

namespace trainward::sim {
namespace {

void world(benchmark::State& bench) {
  std::int64_t events = 0;
  std::uint64_t seed = 0;
  for (auto _ : bench) {
    const Scenario scenario = *make_scenario("chaos", ++seed % 50 + 1, 14);
    events += play(scenario, core_decider(scenario.setup)).events;
  }
  bench.SetItemsProcessed(events);
}
BENCHMARK(world)->Unit(benchmark::kMillisecond);

void core_alone(benchmark::State& bench) {
  const Scenario scenario = *make_scenario("chaos", 3, 14);
  Decider recorder = core_decider(scenario.setup);
  std::vector<Record> told;
  recorder.step = [&told](core::State& state, const core::Event& event, const core::Policy& policy,
                          Time now, core::Actions& actions) {
    told.push_back({event, now});
    core::step(state, event, policy, now, actions);
  };
  play(scenario, recorder);
  std::int64_t events = 0;
  for (auto _ : bench) {
    core::State state;
    core::Actions actions;
    for (const Record& record : told) {
      actions.clear();
      core::step(state, record.event, recorder.policy, record.at, actions);
      benchmark::DoNotOptimize(actions);
    }
    events += static_cast<std::int64_t>(told.size());
  }
  bench.SetItemsProcessed(events);
}
BENCHMARK(core_alone)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainward::sim
