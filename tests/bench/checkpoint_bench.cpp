// Saving and verifying a checkpoint, beside a plain durable write of the same bytes in the same
// run.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "common/file.hpp"

namespace trainward::checkpoint {
namespace {

class Folder {
 public:
  Folder()
      : path_(std::filesystem::current_path() /
              ("checkpoint-bench-" + std::to_string(::getpid()))) {}
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::vector<std::byte> noise(std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint64_t x = 1;
  for (std::byte& b : bytes) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    b = static_cast<std::byte>(x >> 56);
  }
  return bytes;
}

Contents contents_of(const std::vector<std::byte>& bytes) {
  Contents contents;
  contents.state.step = 1;
  const auto elements = static_cast<std::int64_t>(bytes.size() / 4);
  contents.model = {{{"weight", DType::f32, {elements}}, bytes}};
  return contents;
}

void save_checkpoint(benchmark::State& bench) {
  const Folder folder;
  const auto bytes = noise(static_cast<std::size_t>(bench.range(0)) << 20);
  Contents contents = contents_of(bytes);
  for (auto _ : bench) {
    auto saved = save(folder.path(), contents);
    if (!saved) return bench.SkipWithError(saved.error().message().c_str());
    ++contents.state.step;
    bench.PauseTiming();
    std::filesystem::remove_all(*saved);
    bench.ResumeTiming();
  }
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(save_checkpoint)->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();

void plain_durable_write(benchmark::State& bench) {
  const Folder folder;
  if (!make_folders(folder.path())) return bench.SkipWithError("no folder");
  const auto bytes = noise(static_cast<std::size_t>(bench.range(0)) << 20);
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (auto _ : bench) {
    if (!write_file_durably(folder.path() / "file", view)) return bench.SkipWithError("no write");
    bench.PauseTiming();
    std::filesystem::remove(folder.path() / "file");
    bench.ResumeTiming();
  }
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(plain_durable_write)->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();

void verify_checkpoint(benchmark::State& bench) {
  const Folder folder;
  const auto bytes = noise(static_cast<std::size_t>(bench.range(0)) << 20);
  auto saved = save(folder.path(), contents_of(bytes));
  if (!saved) return bench.SkipWithError(saved.error().message().c_str());
  for (auto _ : bench) {
    if (!verify(*saved)) return bench.SkipWithError("does not verify");
  }
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(verify_checkpoint)->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace trainward::checkpoint
