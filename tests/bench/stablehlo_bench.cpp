// What filling tiles costs: the parts of a training step of the quick start's model (micro_3x) on
// the CPU executor, as they are and as stablehlo::lower() makes them.

#include <benchmark/benchmark.h>

#include "trainer/cpu/cpu_program.hpp"
#include "trainer/graph/products.hpp"
#include "trainer/model/training/segments.hpp"
#include "trainer/stablehlo/lower.hpp"
#include "training_cases.hpp"

namespace trainward::trainer {
namespace {

using graph::Graph;

std::vector<float> storage(const graph::Type& type) {
  // Ones are ids too.
  const float one = type.element == graph::Element::i32 ? __builtin_bit_cast(float, 1) : 0.01F;
  return std::vector<float>(static_cast<std::size_t>(graph::element_count(type.shape)), one);
}

void run(benchmark::State& bench, Graph Segments::*part, int threads, bool recompute,
         bool lowered) {
  TrainingSpec spec = micro_3x_case(threads);
  spec.recompute = recompute;
  const auto segments = make_segments(spec);
  if (!segments) return bench.SkipWithError(segments.error().message().c_str());
  Result<Graph> graph = (*segments).*part;
  if (lowered) graph = stablehlo::lower(*graph);
  if (!graph) return bench.SkipWithError(graph.error().message().c_str());
  auto runtime = cpu::Runtime::create(threads);
  if (!runtime) return bench.SkipWithError(runtime.error().message().c_str());
  auto program = cpu::Program::compile(*graph, **runtime);
  if (!program) return bench.SkipWithError(program.error().message().c_str());
  std::vector<std::vector<float>> buffers;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const graph::Value parameter : graph->parameters) {
    inputs.push_back(buffers.emplace_back(storage(graph->type(parameter))).data());
  }
  for (const graph::Value output : graph->outputs) {
    outputs.push_back(buffers.emplace_back(storage(graph->type(output))).data());
  }
  std::vector<std::byte> workspace(program->workspace_bytes());
  for (auto _ : bench) program->run(inputs, outputs, workspace.data());
  bench.counters["kernels"] = static_cast<double>(program->kernel_count());
  bench.counters["MiB"] = static_cast<double>(program->workspace_bytes()) / 0x1p20;
}

template <Graph Segments::*part>
void run(benchmark::State& bench) {
  run(bench, part, static_cast<int>(bench.range(0)), bench.range(1) != 0, bench.range(2) != 0);
}

void cases(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"threads", "recompute", "lowered"})
      ->ArgsProduct({{1, 2}, {0, 1}, {0, 1}})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

BENCHMARK(run<&Segments::block_forward>)->Name("block_forward")->Apply(cases);
BENCHMARK(run<&Segments::block_backward>)->Name("block_backward")->Apply(cases);
BENCHMARK(run<&Segments::head>)->Name("head")->Apply(cases);
BENCHMARK(run<&Segments::embed_backward>)->Name("embed_backward")->Apply(cases);

}  // namespace
}  // namespace trainward::trainer
