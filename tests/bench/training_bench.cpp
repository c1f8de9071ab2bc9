// Training steps: the quick start's model (micro_3x, 8 sequences of 128 bytes), the MLP of 1024
// rows by 512, a GPT of width 384 with 6 layers (16 sequences of 256), and `large` with 64 tokens.
// --precision=bf16 multiplies in bf16 whether that is faster here or not; what the processor makes
// of it is in the context line "bf16". pytorch_training.py times the same in PyTorch.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <string_view>
#include <vector>

#include "trainer/cpu/runtime.hpp"
#include "trainer/examples/gpt2.hpp"
#include "trainer/examples/mlp.hpp"
#include "trainer/model/agillm3.hpp"

namespace trainward::trainer {
namespace {

graph::Precision precision = graph::Precision::f32;  // of the command line

void count_tokens(benchmark::State& bench, std::size_t tokens) {
  bench.counters["tokens/s"] = benchmark::Counter(static_cast<double>(tokens),
                                                  benchmark::Counter::kIsIterationInvariantRate);
}

void run_agillm3(benchmark::State& bench, TrainingSpec spec) {
  spec.threads = static_cast<int>(bench.range(0));
  spec.precision = precision;
  auto model = make_agillm3(spec);
  if (!model) return bench.SkipWithError(model.error().message().c_str());
  std::vector<std::int32_t> tokens(
      static_cast<std::size_t>(spec.sequences_per_step() * spec.block_size));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<std::int32_t>(i * 31 % 251);
  }
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

void micro_3x_step(benchmark::State& bench) { run_agillm3(bench, {}); }

void large_step(benchmark::State& bench) {
  TrainingSpec spec;
  spec.model = {1024, 24, 16, 128, 128'815};
  spec.batch_size = 1;
  spec.block_size = bench.range(1);
  run_agillm3(bench, spec);
}

void mlp_step(benchmark::State& bench) {
  const std::vector<float> x(std::size_t{1024} * 512, 0.5F);
  MlpSpec spec;
  spec.precision = precision;
  run_whole(bench, make_mlp(spec), Sgd{}, {x.data(), x.data()});
}

void gpt_step(benchmark::State& bench) {
  std::vector<std::int32_t> ids(std::size_t{16} * 256);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 31 % 65);
  Gpt2Spec spec;
  spec.precision = precision;
  run_whole(bench, make_gpt2(spec), AdamWithDecay{}, {ids.data(), ids.data()});
  count_tokens(bench, ids.size());
}

BENCHMARK(micro_3x_step)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(mlp_step)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(gpt_step)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(large_step)->Args({2, 64})->Args({2, 512})->Unit(benchmark::kMillisecond)->UseRealTime();

// Takes --precision from the arguments; false when it is none.
bool take_precision(int& argc, char** argv) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view key = "--precision=";
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
  switch ((*runtime)->bf16_products()) {
    case cpu::Bf16Products::none:
      return "widened to f32";
    case cpu::Bf16Products::slow:
      return "without AMX";
    case cpu::Bf16Products::fast:
      return "on AMX";
  }
  return "unknown";
}

}  // namespace
}  // namespace trainward::trainer

int main(int argc, char** argv) {
  using namespace trainward::trainer;
  if (!take_precision(argc, argv)) {
    std::fputs("training_bench: --precision is f32 or bf16\n", stderr);
    return 2;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("bf16", bf16_products());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
