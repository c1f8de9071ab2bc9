// Training steps, f32, of the models of training_cases.hpp; `large` with 64 and 512 tokens.
// pytorch_training.py times the same in PyTorch.

#include <benchmark/benchmark.h>

#include "training_cases.hpp"

namespace trainward::trainer {
namespace {

void count_tokens(benchmark::State& bench, std::size_t tokens) {
  bench.counters["tokens/s"] = benchmark::Counter(static_cast<double>(tokens),
                                                  benchmark::Counter::kIsIterationInvariantRate);
}

void run_agillm3(benchmark::State& bench, const TrainingSpec& spec) {
  auto model = make_agillm3(spec);
  if (!model) return bench.SkipWithError(model.error().message().c_str());
  const auto tokens = tokens_case(spec.sequences_per_step() * spec.block_size, 251);
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
  auto model = WholeModel::make(*std::move(graph), optimizer, 1, static_cast<int>(bench.range(0)));
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
  run_agillm3(bench, micro_3x_case(static_cast<int>(bench.range(0))));
}

void large_step(benchmark::State& bench) {
  run_agillm3(bench, large_case(bench.range(1), static_cast<int>(bench.range(0))));
}

void mlp_step(benchmark::State& bench) {
  const std::vector<float> x = mlp_rows_case();
  run_whole(bench, make_mlp({}), Sgd{}, {x.data(), x.data()});
}

void gpt_step(benchmark::State& bench) {
  const std::vector<std::int32_t> ids = gpt_tokens_case();
  run_whole(bench, make_gpt2({}), AdamWithDecay{}, {ids.data(), ids.data()});
  count_tokens(bench, ids.size());
}

BENCHMARK(micro_3x_step)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(mlp_step)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(gpt_step)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(large_step)->Args({2, 64})->Args({2, 512})->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace trainward::trainer
