// What it costs to capture a worker's output: through the shim (pipe, rotation), through `cat` as
// the plainest pipe reader, and by a file the worker writes itself, left to grow or trimmed in
// place.
//
// bytes_per_second: until the last byte is in the file. logger_cpu_s_per_GB: processor time of what
// stands between worker and file. Logs lie in /dev/shm; LOG_BENCH_FOLDER names another folder.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/wire/journal.hpp"
#include "common/wire/launch.hpp"
#include "temporary_folder.hpp"

namespace trainward {
namespace {

constexpr std::int64_t line_bytes = 100;

std::filesystem::path self() { return std::filesystem::read_symlink("/proc/self/exe"); }

// The worker: numbered lines, with so many bytes a write(2).
int write_lines(std::int64_t total, std::size_t a_write) {
  std::string line = std::string(12, '0') + " " + std::string(line_bytes - 14, 'x') + "\n";
  std::string block;
  for (std::int64_t written = 0; written < total;) {
    while (block.size() < a_write) {
      block += line;
      for (std::size_t digit = 11; ++line[digit] > '9'; --digit) line[digit] = '0';
    }
    const ssize_t put = ::write(STDOUT_FILENO, block.data(), a_write);
    if (put < 0) return 1;
    block.erase(0, static_cast<std::size_t>(put));
    written += put;
  }
  return 0;
}

std::filesystem::path place_of_logs() {
  const char* wanted = std::getenv("LOG_BENCH_FOLDER");
  return wanted != nullptr ? wanted : "/dev/shm";
}

pid_t spawn(const std::vector<std::string>& argv, int in, int out) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  if (in >= 0) ::dup2(in, STDIN_FILENO);
  if (out >= 0) ::dup2(out, STDOUT_FILENO);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  ::_exit(127);
}

std::vector<std::string> worker(std::int64_t total, std::int64_t a_write) {
  return {self().string(), "write", std::to_string(total), std::to_string(a_write)};
}

double cpu_of(pid_t pid) {
  rusage usage{};
  ::wait4(pid, nullptr, 0, &usage);
  const auto seconds = [](timeval t) { return static_cast<double>(t.tv_sec) + t.tv_usec / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A run through one kind of capture; returns the logger's processor time in seconds.
double through_shim(const TemporaryFolder& folder, std::int64_t total, std::int64_t a_write) {
  LaunchSpec spec;
  spec.run = "bench";
  spec.nonce = "bench" + std::to_string(::getpid());
  spec.argv = worker(total, a_write);
  spec.directory = "/";
  (void)write_file_durably(folder.path() / attempt_files::launch, to_json_text(spec), 0600);
  const double all = cpu_of(spawn({SHIM, folder.path().string()}, -1, -1));
  const auto journal = read_journal(folder.path() / attempt_files::journal, 0);
  const auto& exit = journal->records.back().fields;
  return all - static_cast<double>(int_or(exit, "user_ms", 0) + int_or(exit, "system_ms", 0)) / 1e3;
}

double through_cat(const TemporaryFolder& folder, std::int64_t total, std::int64_t a_write) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  Fd read(ends[0]);
  Fd write(ends[1]);
  const Fd file(
      ::open((folder.path() / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  const pid_t cat = spawn({"cat"}, read.get(), file.get());
  const pid_t writer = spawn(worker(total, a_write), -1, write.get());
  read.reset();
  write.reset();
  cpu_of(writer);
  return cpu_of(cat);
}

double own_file(const TemporaryFolder& folder, std::int64_t total, std::int64_t a_write,
                bool trimmed) {
  const Fd file(
      ::open((folder.path() / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  const pid_t writer = spawn(worker(total, a_write), -1, file.get());
  std::atomic<bool> done{false};
  double cpu = 0;
  std::thread trimmer([&] {
    constexpr off_t limit = 64 << 20;
    constexpr off_t cut = 48 << 20;
    while (trimmed && !done) {
      if (::lseek(file.get(), 0, SEEK_END) > limit) {
        ::fallocate(file.get(), FALLOC_FL_COLLAPSE_RANGE, 0, cut);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    cpu = static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) / 1e9;
  });
  cpu_of(writer);
  done = true;
  trimmer.join();
  return cpu;
}

enum class Way { shim, cat, own_file, own_file_trimmed };

void capture(benchmark::State& state, Way way) {
  const std::int64_t a_write = state.range(0);
  const std::int64_t total = state.range(1) << 20;
  double cpu = 0;
  for (auto _ : state) {
    const TemporaryFolder folder(place_of_logs());
    const auto begin = std::chrono::steady_clock::now();
    switch (way) {
      case Way::shim:
        cpu += through_shim(folder, total, a_write);
        break;
      case Way::cat:
        cpu += through_cat(folder, total, a_write);
        break;
      case Way::own_file:
      case Way::own_file_trimmed:
        cpu += own_file(folder, total, a_write, way == Way::own_file_trimmed);
        break;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(took.count());
  }
  const double bytes = static_cast<double>(total) * static_cast<double>(state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.counters["logger_cpu_s_per_GB"] = cpu / (bytes / 1e9);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Args({64 * 1024, 1024})->Args({8 * 1024, 1024})->Args({100, 256});
  bench->UseManualTime()->Iterations(1)->Repetitions(3)->ReportAggregatesOnly();
  bench->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(capture, shim, Way::shim)->Apply(sizes);
BENCHMARK_CAPTURE(capture, cat, Way::cat)->Apply(sizes);
BENCHMARK_CAPTURE(capture, own_file, Way::own_file)->Apply(sizes);
BENCHMARK_CAPTURE(capture, own_file_trimmed, Way::own_file_trimmed)->Apply(sizes);

}  // namespace
}  // namespace trainward

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "write") == 0) {
    return trainward::write_lines(std::atoll(argv[2]), std::strtoull(argv[3], nullptr, 10));
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
