// How many events a second the supervisor's decisions take.

#include <benchmark/benchmark.h>

#include "supervisor/decide/core/turn/step.hpp"

namespace trainward::core {
namespace {

void heartbeat(benchmark::State& bench) {
  const Policy policy;
  Time time{1'700'000'000'000, 1'000};
  State state;
  Actions actions;
  for (const Event& event : {Event(StartRequested{}), Event(CheckpointSelected{}),
                             Event(WorkerStarted{1}), Event(PhaseEntered{"train"})}) {
    step(state, event, policy, time, actions);
  }
  // The event is changed where it lies: what is measured is the decision, not how it is put
  // together.
  Event event = StepDone{{}, 2.5, 1.0, {}, 0, 100};
  auto& done = std::get<StepDone>(event);
  for (auto _ : bench) {
    time.mono += 50;
    time.wall += 50;
    actions.clear();
    done.step = done.step + 1;
    done.figures.tokens = done.step.number;
    step(state, event, policy, time, actions);
    benchmark::DoNotOptimize(actions);
  }
  bench.SetItemsProcessed(bench.iterations());
}
BENCHMARK(heartbeat);

void whole_attempt(benchmark::State& bench) {
  const Policy policy;
  Time time{1'700'000'000'000, 1'000};
  std::int64_t events = 0;
  State state;
  Actions actions;
  step(state, StartRequested{}, policy, time, actions);
  std::int64_t number = 0;
  auto feed = [&](const Event& event) {
    time.mono += 10;
    time.wall += 10;
    actions.clear();
    step(state, event, policy, time, actions);
    ++events;
  };
  for (auto _ : bench) {
    feed(CheckpointSelected{number > 0 ? "/c" : "", number, ""});
    feed(WorkerStarted{1});
    feed(PhaseEntered{"train"});
    for (int i = 0; i < 4; ++i) feed(StepDone{++number, 2.5, 1.0, {}, number, 100});
    feed(CheckpointVerified{state.attempt, "/c", number, 1, ""});
    WorkerExited exit;
    exit.code = 1;
    exit.matches = {{"rule", Cause::device_oom, 60, "Out of Memory", "stderr.log:1"}};
    feed(exit);
    if (state.stage != Stage::selecting) {  // the budget of attempts is spent: begin anew
      state = {};
      step(state, StartRequested{}, policy, time, actions);
      number = 0;
    }
  }
  bench.SetItemsProcessed(events);
}
BENCHMARK(whole_attempt);

}  // namespace
}  // namespace trainward::core
