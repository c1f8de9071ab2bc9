// How fast logs are read: ordinary training output, a storm of one error, chatter without progress.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "classify_log.hpp"

namespace trainward::rules {
namespace {

constexpr std::size_t text_bytes = 8 << 20;

std::string progress_log() {
  std::string text;
  for (int step = 0; text.size() < text_bytes; ++step) {
    text += fmt::format(
        "2026-01-02 10:00:{:02}.123 | info | trainer | step {} | loss {:.4f} | lr 3.0e-04 | grad "
        "norm "
        "{:.3f} | 18211 tok/s | mem 61.2 GiB\n",
        step % 60, step, 3.0 + step % 7 * 0.01, 0.4 + step % 5 * 0.01);
  }
  return text;
}

std::string chatter_log() {
  std::string text;
  for (int i = 0; text.size() < text_bytes; ++i) {
    text += fmt::format(
        "node{}:1379562:13795{:02} [0] NCCL INFO Channel {:02}/24 : {}[1000] -> {}[2000] via "
        "P2P/IPC\n",
        i % 4, i % 100, i % 24, i % 8, (i + 1) % 8);
    text += fmt::format("[INFO|modeling_utils.py:{}] loading weights file model-{:05}.bin\n",
                        i % 999, i);
  }
  return text;
}

std::string error_storm() {
  std::string text;
  while (text.size() < text_bytes) {
    text +=
        "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 "
        "has a "
        "total capacity of 79.15 GiB of which 1.02 GiB is free.\n";
  }
  return text;
}

void read(benchmark::State& bench, const std::string& text) {
  const auto matcher = LogMatcher::load();
  for (auto _ : bench) benchmark::DoNotOptimize(classify_log(*matcher, text));
  bench.SetBytesProcessed(static_cast<std::int64_t>(bench.iterations() * text.size()));
}

void progress(benchmark::State& bench) { read(bench, progress_log()); }
void chatter(benchmark::State& bench) { read(bench, chatter_log()); }
void storm(benchmark::State& bench) { read(bench, error_storm()); }
BENCHMARK(progress)->Unit(benchmark::kMillisecond);
BENCHMARK(chatter)->Unit(benchmark::kMillisecond);
BENCHMARK(storm)->Unit(benchmark::kMillisecond);

void load(benchmark::State& bench) {
  for (auto _ : bench) benchmark::DoNotOptimize(LogMatcher::load());
}
BENCHMARK(load)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainward::rules
