// What a fortnight of attempts costs whoever asks for them: status is asked again and again, the
// history by a person; the curve of a million steps, and what a step costs to put.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "long_run.hpp"
#include "supervisor/record/store/curve/step_pyramid.hpp"
#include "supervisor/record/store/rows/row_sql.hpp"
#include "supervisor/record/store/store.hpp"
#include "temporary_folder.hpp"

namespace trainward::store {
namespace {

constexpr std::int64_t steps_each = 20;

// A run that crashes every 20 steps and loses five of them; `told`: it is told where to go on.
Store run_of(const std::filesystem::path& file, bool told) {
  const auto attempt = [told](AttemptRow& row) {
    row.first_step = (row.number - 1) * 15 + 1;
    row.resume_step = row.first_step - 1;
    row.last_step = row.first_step + steps_each - 1;
    row.kept_step = row.last_step - 5;
    row.told_to_resume = told;
  };
  const auto step = [](StepRow& done, const AttemptRow& row) {
    done.loss = 2.5;
    done.at_ms = row.started_ms + (done.step - row.first_step) * 20'000;
  };
  return recorded_run(file, attempt, step, [](Store&, const AttemptRow&) {});
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

void curve(benchmark::State& bench, std::optional<std::int64_t> from,
           std::optional<std::int64_t> to) {
  const auto store = Store::open_read_only(long_file());
  std::size_t bytes = 0;
  for (auto _ : bench) {
    auto document = store->curve_json("run", {from, to, 2000, "loss"});
    if (!document) std::abort();
    bytes = json::serialize(*document).size();
  }
  bench.counters["bytes"] = static_cast<double>(bytes);
}

void report(benchmark::State& bench) {
  const auto store = Store::open_read_only(long_file());
  for (auto _ : bench) benchmark::DoNotOptimize(store->report_json("run"));
}

void ledger(benchmark::State& bench) {
  const auto store = Store::open_read_only(long_file());
  for (auto _ : bench) {
    benchmark::DoNotOptimize(
        store->ledger_json("run", bench.range(0), Time{{attempts * 600'000}, {}}));
  }
}

// What the first start of a daemon on an older file does with its steps.
void build_buckets(benchmark::State& bench) {
  auto db = Connection::open(long_file(), Connection::Mode::read_write);
  const std::string program = "run";
  for (auto _ : bench) {
    must((*db)->run("begin immediate"));
    must((*db)->run("delete from step_buckets"));
    must(StepPyramid(**db, program).build());
    (*db)->roll_back();
  }
}

void mark(benchmark::State& bench) {
  const auto store = Store::open_read_only(long_file());
  for (auto _ : bench) benchmark::DoNotOptimize(store->mark());
}

// A transaction of 100 steps, with the buckets of the curve or as rows alone.
void put_step(benchmark::State& bench) {
  const TemporaryFolder folder;
  Store store = run_of(folder.path() / "run.db", true);
  auto rows = Connection::open(folder.path() / "run.db", Connection::Mode::read_write);
  const std::string sql = insert_sql<StepRow>("insert or replace into", "steps", {"program"});
  must((*rows)->run("pragma synchronous = normal"));
  const bool buckets = bench.range(0) != 0;
  std::int64_t step = 100'000;
  for (auto _ : bench) {
    std::optional<Result<Store::Transaction>> transaction;
    if (buckets) transaction.emplace(store.begin(Store::Survives::process));
    if (!buckets) must((*rows)->run("begin immediate"));
    for (int i = 0; i < 100; ++i) {
      StepRow done;
      done.step = ++step;
      done.attempt = attempts;
      done.loss = 2.5;
      done.grad_norm = 1.0;
      done.tokens = step * 4096;
      done.tokens_per_second = 4000;
      done.learning_rate = 1e-4;
      done.at_ms = step * 1'000;
      must(buckets ? store.add_step("run", done)
                   : write_row(**rows, sql, done, std::string("run")));
    }
    must(buckets ? (*transaction)->commit() : (*rows)->run("commit"));
  }
  bench.SetItemsProcessed(bench.iterations() * 100);
}

BENCHMARK(put_step)->ArgName("buckets")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(curve, whole, std::nullopt, std::nullopt)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(curve, ten_thousand_steps, 500'000, 509'999)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(curve, tail, many_steps - 600, std::nullopt)->Unit(benchmark::kMillisecond);
BENCHMARK(ledger)->ArgName("window")->Arg(86'400)->Arg(1LL << 40)->Unit(benchmark::kMillisecond);
BENCHMARK(build_buckets)->Unit(benchmark::kMillisecond);
BENCHMARK(mark)->Unit(benchmark::kMicrosecond);
BENCHMARK(report)->Unit(benchmark::kMillisecond);
BENCHMARK(history)->ArgName("told")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);
BENCHMARK(status)->ArgName("told")->Arg(1)->Arg(0)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainward::store
