// Training steps of the models of training_cases.hpp; `large` with 64 and 512 tokens; micro_3x on
// short prompt/response pairs in rows of 512, padded and packed: tokens that are no padding.
// --precision=bf16 multiplies in bf16 whether that is faster here or not; what the processor makes
// of it is in the context line "bf16". --products runs the steps' matrix products alone, under the
// same names. pytorch_training.py times the same in PyTorch.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>

#include "step_products.hpp"
#include "trainer/cpu/runtime/runtime.hpp"
#include "trainer/data/examples/example_reader.hpp"
#include "training_cases.hpp"

namespace trainward::trainer {
namespace {

// Of the command line.
graph::Precision precision = graph::Precision::f32;
bool products_alone = false;

void count_tokens(benchmark::State& bench, std::size_t tokens) {
  bench.counters["tokens/s"] = benchmark::Counter(static_cast<double>(tokens),
                                                  benchmark::Counter::kIsIterationInvariantRate);
}

void run_products(benchmark::State& bench, Result<StepProducts> products) {
  if (!products) return bench.SkipWithError(products.error().message().c_str());
  products->run();
  for (auto _ : bench) products->run();
}

void run_model(benchmark::State& bench, TrainingSpec spec, std::int32_t vocabulary = 251) {
  spec.precision = precision;
  if (products_alone) return run_products(bench, StepProducts::of_segments(spec));
  auto model = make_cpu_model(spec);
  if (!model) return bench.SkipWithError(model.error().message().c_str());
  const auto tokens = tokens_case(spec.sequences_per_step() * spec.block_size, vocabulary);
  (void)(*model)->step(tokens);  // the first one touches new memory
  for (auto _ : bench) {
    auto result = (*model)->step(tokens);
    if (!result) return bench.SkipWithError(result.error().message().c_str());
    benchmark::DoNotOptimize(result->loss);
  }
  count_tokens(bench, tokens.size());
  bench.counters["GiB"] = static_cast<double>((*model)->arena_bytes()) / 0x1p30;
}

void run_whole(benchmark::State& bench, Result<ModelGraph> graph, const Optimizer& optimizer,
               const std::vector<const void*>& inputs) {
  if (!graph) return bench.SkipWithError(graph.error().message().c_str());
  const int threads = static_cast<int>(bench.range(0));
  if (products_alone) return run_products(bench, StepProducts::of_graph(graph->step, threads));
  auto model = WholeModel::make(*std::move(graph), optimizer, 1, threads);
  if (!model) return bench.SkipWithError(model.error().message().c_str());
  (void)(*model)->step(inputs);
  for (auto _ : bench) {
    auto result = (*model)->step(inputs);
    if (!result) return bench.SkipWithError(result.error().message().c_str());
    benchmark::DoNotOptimize(result->loss);
  }
  bench.counters["GiB"] = static_cast<double>((*model)->arena_bytes()) / 0x1p30;
}

void micro_3x_step(benchmark::State& bench) {
  run_model(bench, micro_3x_case(static_cast<int>(bench.range(0))));
}

void large_step(benchmark::State& bench) {
  run_model(bench, large_case(bench.range(1), static_cast<int>(bench.range(0))));
}

void mlp_step(benchmark::State& bench) {
  const std::vector<float> x = mlp_rows_case();
  MlpSpec spec;
  spec.precision = precision;
  run_whole(bench, make_mlp(spec), Sgd{}, {x.data(), x.data()});
}

void gpt_step(benchmark::State& bench) {
  run_model(bench, gpt_case(static_cast<int>(bench.range(0))), 65);
}

void smollm2_step(benchmark::State& bench) {
  run_model(bench, smollm2_case(static_cast<int>(bench.range(0)), bench.range(1) != 0), 49'152);
}

// Of 40 to 119 tokens, of which the second half are answers.
ExampleSet short_pairs() {
  ExampleSet set;
  for (std::size_t i = 0; i < 400; ++i) {
    Example pair;
    pair.ids = tokens_case(static_cast<std::int64_t>(40 + i * 37 % 80), 251);
    pair.targets.assign(pair.ids.size(), 0);
    std::fill(pair.targets.begin() + static_cast<std::ptrdiff_t>(pair.ids.size() / 2),
              pair.targets.end(), std::uint8_t{1});
    (void)set.add(pair);
  }
  return set;
}

void pairs_step(benchmark::State& bench) {
  TrainingSpec spec = micro_3x_case(static_cast<int>(bench.range(0)));
  spec.batch_size = 4;
  spec.block_size = 512;
  spec.precision = precision;
  spec.weighted = true;
  spec.segmented = bench.range(1) != 0;
  const ExampleSet set = short_pairs();
  std::vector<std::uint32_t> all(set.size());
  std::iota(all.begin(), all.end(), 0U);
  const ExampleRows rows(set, all, {spec.block_size, spec.segmented, 0, 1});
  ExampleReader reader(rows, spec.batch_size, 1);
  auto model = make_cpu_model(spec);
  if (!model) return bench.SkipWithError(model.error().message().c_str());
  std::int64_t tokens = 0;
  (void)(*model)->step(*reader.next());
  for (auto _ : bench) {
    auto result = (*model)->step(*reader.next());
    if (!result) return bench.SkipWithError(result.error().message().c_str());
    tokens += reader.tokens();
  }
  bench.counters["tokens/s"] =
      benchmark::Counter(static_cast<double>(tokens), benchmark::Counter::kIsRate);
}

BENCHMARK(micro_3x_step)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(mlp_step)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(gpt_step)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(large_step)
    ->ArgsProduct({{1, 2}, {64, 512}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(smollm2_step)
    ->ArgNames({"threads", "lora"})
    ->ArgsProduct({{1, 2}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(pairs_step)
    ->ArgNames({"threads", "packed"})
    ->ArgsProduct({{1, 2}, {0, 1}})
    ->Iterations(24)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Takes --precision and --products from the arguments; false when the precision is none.
bool take_options(int& argc, char** argv) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view key = "--precision=";
    if (argument == "--products") {
      products_alone = true;
      continue;
    }
    if (!argument.starts_with(key)) {
      argv[kept++] = argv[i];
      continue;
    }
    const std::string_view value = argument.substr(key.size());
    if (value != "f32" && value != "bf16") return false;
    if (value == "bf16") precision = graph::Precision::bf16;
  }
  argc = kept;
  return true;
}

const char* bf16_products() {
  auto runtime = cpu::Runtime::create(1);
  if (!runtime) return "unknown";
  return (*runtime)->multiplies_bf16() ? "multiplied as they are" : "widened to f32";
}

}  // namespace
}  // namespace trainward::trainer

int main(int argc, char** argv) {
  using namespace trainward::trainer;
  if (!take_options(argc, argv)) {
    std::fputs("training_bench: --precision is f32 or bf16\n", stderr);
    return 2;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("bf16", bf16_products());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
