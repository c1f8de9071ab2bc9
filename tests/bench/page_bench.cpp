// What the page of a long run costs: a million steps in 2,000 attempts, from the database to HTML.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "long_run.hpp"
#include "supervisor/window/page/assets.hpp"
#include "supervisor/window/page/page_documents.hpp"
#include "supervisor/window/page/render.hpp"

namespace trainward::page {
namespace {

Documents gathered(const store::Store& store, std::string_view section) {
  Documents documents;
  documents.view.program = "run";
  documents.view.now_ms = (store::attempts + 1) * 600'000;
  documents.view.operates = true;
  auto got = gather(documents, section,
                    [&store](const Question& question) { return question.read(store); });
  if (!got) std::abort();
  return documents;
}

void page(benchmark::State& bench) {
  const auto store = store::Store::open_read_only(store::long_file());
  const Look look = Assets().look();
  std::size_t bytes = 0;
  for (auto _ : bench) bytes = program_page(gathered(*store, ""), look).size();
  bench.counters["bytes"] = static_cast<double>(bytes);
}

void one_section(benchmark::State& bench, std::string_view id) {
  const auto store = store::Store::open_read_only(store::long_file());
  for (auto _ : bench) benchmark::DoNotOptimize(section(id, gathered(*store, id)));
}

void rendering(benchmark::State& bench) {
  const auto store = store::Store::open_read_only(store::long_file());
  const Documents documents = gathered(*store, "");
  const Look look = Assets().look();
  for (auto _ : bench) benchmark::DoNotOptimize(program_page(documents, look));
}

BENCHMARK(page)->Unit(benchmark::kMillisecond);
BENCHMARK(rendering)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(one_section, summary, "summary")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(one_section, curve, "curve")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(one_section, attempts, "attempts")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(one_section, why, "why")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(one_section, learning, "learning")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainward::page
