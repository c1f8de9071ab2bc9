// A training step of the quick start's model: micro_3x, 8 sequences of 128 bytes, f32.

#include <benchmark/benchmark.h>

#include <vector>

#include "trainer/model/agillm3.hpp"

namespace trainward::trainer {
namespace {

void micro_3x_step(benchmark::State& bench) {
  TrainingSpec spec;
  spec.threads = static_cast<int>(bench.range(0));
  auto model = make_agillm3(spec);
  if (!model) return bench.SkipWithError(model.error().message().c_str());
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(spec.batch_size * spec.block_size));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<std::int32_t>(i * 31 % 251);
  }
  for (auto _ : bench) {
    auto result = (*model)->step(tokens);
    if (!result) return bench.SkipWithError(result.error().message().c_str());
    benchmark::DoNotOptimize(result->loss);
  }
  bench.counters["tokens/s"] = benchmark::Counter(static_cast<double>(tokens.size()),
                                                  benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(micro_3x_step)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace trainward::trainer
