// What a scrape costs: of a hundred programs with a million steps in 2,000 attempts between them,
// all of them training, and of one program that has all of that.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "long_run.hpp"
#include "supervisor/decide/core/state.hpp"
#include "supervisor/record/metrics/collector.hpp"
#include "supervisor/record/metrics/expose.hpp"
#include "supervisor/record/store/store.hpp"
#include "temporary_folder.hpp"

namespace trainward::metrics {
namespace {

using store::must;

constexpr std::int64_t programs = 100;
constexpr std::int64_t attempts_each = 20;
constexpr std::int64_t steps_each = 500;  // an attempt; a checkpoint every 100

std::string name_of(std::int64_t program) { return fmt::format("program-{:03}", program); }

std::string core_state(std::int64_t number) {
  core::State state;
  state.stage = core::Stage::training;
  state.wanted = true;
  state.watch.step_times_ms.assign(128, 1'000 + number);
  state.span = core::OpenSpan{attempts_each, core::Phase::stepping, core::Cause::none,
                              Time{{1'000'000}, {1'000'000}}};
  return json::serialize(core::to_json(state));
}

store::StepRow row_of(std::int64_t step, std::int64_t attempt, std::int64_t at_ms) {
  store::StepRow row;
  row.step = step;
  row.attempt = attempt;
  row.loss = 2.5;
  row.grad_norm = 1.0;
  row.tokens = step * 4096;
  row.tokens_per_second = 4000;
  row.learning_rate = 1e-4;
  row.at_ms = at_ms;
  return row;
}

void add_program(store::Store& store, std::int64_t number) {
  store::ProgramRow program;
  program.name = name_of(number);
  program.state = "RUNNING";
  program.core_state = core_state(number);
  program.target_step = 100'000;
  must(store.put_program(program));
  for (std::int64_t attempt = 1; attempt <= attempts_each; ++attempt) {
    store::AttemptRow row;
    row.program = program.name;
    row.number = attempt;
    row.intended_ms = row.started_ms = attempt * 600'000;
    row.resume_step = (attempt - 1) * steps_each;
    row.first_step = row.resume_step + 1;
    row.last_step = attempt * steps_each;
    row.kept_step = row.last_step;
    if (attempt < attempts_each) {
      row.ended_ms = row.started_ms + 500'000;
      row.cause = "device_oom";
    }
    must(store.put_attempt(row));
    for (std::int64_t step = row.first_step; step <= row.last_step; ++step) {
      must(store.add_step(program.name, row_of(step, attempt, row.started_ms + step * 1'000)));
      if (step % 100 != 0) continue;
      must(store.put_checkpoint(
          program.name,
          {fmt::format("step-{}", step), step, attempt, 1 << 30,
           step + 300 > steps_each * attempts_each ? "verified" : "pruned", "", step * 1'000}));
      must(store.add_span(program.name, {attempt, "saving", "", step * 1'000, 100}));
      must(store.add_span(program.name, {attempt, "stepping", "", step * 1'000, 90'000}));
    }
    for (const char* phase : {"loading", "compiling", "down"}) {
      must(store.add_span(program.name, {attempt, phase, "device_oom", 1, 1'000}));
    }
  }
}

const std::filesystem::path& hundred() {
  static const TemporaryFolder folder;
  static const std::filesystem::path file = [] {
    auto path = folder.path() / "run.db";
    auto store = store::Store::open(path);
    if (!store) std::abort();
    auto transaction = store->begin();
    for (std::int64_t i = 0; i < programs; ++i) add_program(*store, i);
    must(transaction->commit());
    return path;
  }();
  return file;
}

std::string scrape(Collector& collector, const store::Store& store, std::int64_t at_ms) {
  auto snapshot = collector.snapshot(store, {"1.0.0", DaemonFigures{}, {}}, Time{{at_ms}, {at_ms}});
  if (!snapshot) std::abort();
  return expose(*snapshot, Format::openmetrics);
}

// What a daemon that has just started does once.
void first_scrape(benchmark::State& bench) {
  const auto file = bench.range(0) == 1 ? store::long_file() : hundred();
  const auto store = store::Store::open_read_only(file);
  for (auto _ : bench) {
    Collector collector;
    benchmark::DoNotOptimize(scrape(collector, *store, 1));
  }
}

// Every program has done a step since the last one.
void next_scrape(benchmark::State& bench) {
  const bool one = bench.range(0) == 1;
  const auto file = one ? store::long_file() : hundred();
  auto writer = store::Store::open(file);
  const auto store = store::Store::open_read_only(file);
  Collector collector;
  std::int64_t at_ms = 2'000'000;
  std::int64_t step = one ? store::many_steps : attempts_each * steps_each;
  std::size_t bytes = scrape(collector, *store, at_ms).size();
  for (auto _ : bench) {
    bench.PauseTiming();
    at_ms += 15'000;
    ++step;
    {
      auto transaction = writer->begin(store::Store::Survives::process);
      for (std::int64_t i = 0; i < (one ? 1 : programs); ++i) {
        must(writer->add_step(one ? "run" : name_of(i),
                              row_of(step, one ? store::attempts : attempts_each, at_ms)));
      }
      must(transaction->commit());
    }
    bench.ResumeTiming();
    bytes = scrape(collector, *store, at_ms).size();
  }
  bench.counters["bytes"] = static_cast<double>(bytes);
}

// Nothing was written since.
void same_scrape(benchmark::State& bench) {
  const auto store = store::Store::open_read_only(hundred());
  Collector collector;
  std::int64_t at_ms = 2'000'000;
  for (auto _ : bench) benchmark::DoNotOptimize(scrape(collector, *store, at_ms += 15'000));
}

BENCHMARK(first_scrape)->Arg(100)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(next_scrape)->Arg(100)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(same_scrape)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainward::metrics
