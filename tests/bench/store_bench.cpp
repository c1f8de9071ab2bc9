// What a fortnight of attempts costs whoever asks for them: status is asked again and again, the
// history by a person.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>

#include "supervisor/store/store.hpp"
#include "temporary_folder.hpp"

namespace trainward::store {
namespace {

constexpr std::int64_t attempts = 2'000;
constexpr std::int64_t steps_each = 20;

void must(const Status& done) {
  if (done) return;
  fmt::print(stderr, "{}\n", done.error().message());
  std::abort();
}

// A run that crashes every 20 steps and loses five of them; `told`: it is told where to go on.
Store run_of(const std::filesystem::path& file, bool told) {
  auto store = Store::open(file);
  if (!store) std::abort();
  auto transaction = store->begin();
  ProgramRow program;
  program.name = "run";
  must(store->put_program(program));
  for (std::int64_t number = 1; number <= attempts; ++number) {
    AttemptRow row;
    row.program = "run";
    row.number = number;
    row.intended_ms = row.started_ms = number * 600'000;
    row.ended_ms = row.started_ms + 500'000;
    row.first_step = (number - 1) * 15 + 1;
    row.resume_step = row.first_step - 1;
    row.last_step = row.first_step + steps_each - 1;
    row.kept_step = row.last_step - 5;
    row.cause = "device_oom";
    row.told_to_resume = told;
    must(store->put_attempt(row));
    for (std::int64_t step = row.first_step; step <= row.last_step; ++step) {
      StepRow done;
      done.step = step;
      done.attempt = number;
      done.loss = 2.5;
      done.at_ms = row.started_ms + (step - row.first_step) * 20'000;
      must(store->add_step("run", done));
    }
  }
  must(transaction->commit());
  return std::move(*store);
}

void history(benchmark::State& bench) {
  const TemporaryFolder folder;
  const Store store = run_of(folder.path() / "run.db", bench.range(0) != 0);
  for (auto _ : bench) benchmark::DoNotOptimize(store.history_json("run"));
}

void status(benchmark::State& bench) {
  const TemporaryFolder folder;
  const Store store = run_of(folder.path() / "run.db", bench.range(0) != 0);
  for (auto _ : bench) benchmark::DoNotOptimize(store.status_json(Time{}));
}

BENCHMARK(history)->ArgName("told")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(status)->ArgName("told")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainward::store
