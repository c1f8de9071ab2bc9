// How fast a program's output is read: lines of steps, bars, and chatter about other things. The
// bound is a million lines a minute.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "common/base/line_splitter.hpp"
#include "supervisor/evidence/foreign/formats/recognizer.hpp"

namespace trainward::foreign {
namespace {

constexpr std::size_t text_bytes = 8 << 20;

template <typename Line>
std::string text_of(Line line) {
  std::string text;
  for (int i = 1; text.size() < text_bytes; ++i) text += line(i);
  return text;
}

void read(benchmark::State& bench, const std::string& text) {
  std::int64_t count = 0;
  for (auto _ : bench) {
    Recognizer recognizer;
    LineSplitter lines(64 * 1024);
    Events events;
    lines.feed(text, [&](std::string_view line, std::int64_t) {
      ++count;
      recognizer.take(line, events);
      events.clear();
    });
    benchmark::DoNotOptimize(recognizer.newest());
  }
  bench.SetBytesProcessed(static_cast<std::int64_t>(bench.iterations() * text.size()));
  bench.SetItemsProcessed(count);
}

void steps(benchmark::State& bench) {
  read(bench, text_of([](int i) {
         return fmt::format(
             "2026-01-02 10:00:{:02}.123 | info | step {} | loss {:.4f} | lr 3.0e-04 "
             "| grad norm {:.3f} | 18211 tok/s | mem 61.2 GiB\n",
             i % 60, i, 3.0 + i % 7 * 0.01, 0.4 + i % 5 * 0.01);
       }));
}

void bars(benchmark::State& bench) {
  read(bench, text_of([](int i) {
         return fmt::format(
             "Epoch 0: {:3}%|█████     | {}/900000 [00:12<01:30, 74.31it/s, v_num=3, "
             "train_loss=0.0812]\r",
             i / 9000 % 100, i);
       }));
}

void chatter(benchmark::State& bench) {
  read(bench, text_of([](int i) {
         return fmt::format(
             "node{}:1379562:13795{:02} [0] NCCL INFO Channel {:02}/24 : {}[1000] -> "
             "{}[2000] via P2P/IPC\n",
             i % 4, i % 100, i % 24, i % 8, (i + 1) % 8);
       }));
}

BENCHMARK(steps)->Unit(benchmark::kMillisecond);
BENCHMARK(bars)->Unit(benchmark::kMillisecond);
BENCHMARK(chatter)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trainward::foreign
