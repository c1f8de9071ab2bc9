// What a look at the hardware costs: the whole program on four described boards, and on four boards
// of a fake tree; and how much longer than their deadline boards take that all hang.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hwprobe/stages/live_files.hpp"
#include "hwprobe/stages/run_stages.hpp"
#include "temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
namespace probe = trainward::hwprobe;
using std::chrono::milliseconds;

constexpr int boards = 4;

int run_probe(const std::vector<std::string>& options) {
  std::vector<std::string> words{PROBE, "--json"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  ::posix_spawn(&pid, PROBE, &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void described(benchmark::State& state) {
  const trainward::TemporaryFolder scratch;
  std::string text = "boards:\n";
  for (int i = 0; i < boards; ++i) {
    text += "  - serial: \"010001451170c0c" + std::to_string(i) +
            "\"\n    chips: [{id: L, temperature_c: 57}, {id: R, temperature_c: 38}]\n"
            "    links: [{from: \"L:8\", to: \"R:0\"}, {from: \"L:9\", to: \"R:1\"}]\n";
  }
  const fs::path host = scratch.write("host.yaml", text);
  for (auto _ : state) {
    if (run_probe({"--host", host.string()}) != 0) state.SkipWithError("the probe failed");
  }
}
BENCHMARK(described)->Unit(benchmark::kMillisecond)->UseRealTime();

// Without a heartbeat to wait for: nothing but processes, pipes and files.
void fake_tree(benchmark::State& state) {
  const trainward::TemporaryFolder scratch;
  for (int i = 0; i < boards; ++i) {
    const std::string device = "sys/bus/pci/devices/0000:c" + std::to_string(i) + ":00.0/";
    scratch.write(device + "vendor", "0x1e52\n");
    scratch.write(device + "config", "\x52\x1e\x1e\x40");
    scratch.write(device + "hwmon/hwmon3/temp1_input", "57000\n");
    for (const char* name : {"tt_serial", "tt_card_type", "tt_fw_bundle_ver", "tt_aiclk"}) {
      scratch.write(device + "tenstorrent/tenstorrent!0/" + name, "19.7.1.0\n");
    }
  }
  const std::vector<std::string> options{"--root", scratch.path().string(), "--state",
                                         (scratch.path() / "state").string()};
  for (auto _ : state) {
    if (run_probe(options) != 0) state.SkipWithError("the probe failed");
  }
}
BENCHMARK(fake_tree)->Unit(benchmark::kMillisecond)->UseRealTime();

std::size_t open_descriptors() {
  const fs::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

void every_child_hangs(benchmark::State& state) {
  const trainward::TemporaryFolder scratch;
  const fs::path fifo = scratch.path() / "fifo";
  ::mkfifo(fifo.c_str(), 0600);
  const milliseconds deadline(state.range(0));
  const std::vector<probe::Stage> stages{
      {"hang", deadline,
       [fifo](const std::string&, const probe::Emit& emit) -> trainward::Status {
         probe::LiveFiles live("/", nullptr);
         emit(live.answer("file", fifo.string()));
         return {};
       },
       nullptr}};
  probe::Processes processes;
  const std::size_t before = open_descriptors();
  double worst = 0;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    probe::run_stages({"a", "b", "c", "d"}, stages, scratch.path(), processes);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    worst = std::max(worst, took.count() - static_cast<double>(deadline.count()));
  }
  state.counters["worst_ms_late"] = worst;
  state.counters["leaked_descriptors"] = static_cast<double>(open_descriptors() - before);
  state.counters["zombies"] = ::waitpid(-1, nullptr, WNOHANG) >= 0 ? 1 : 0;
}
BENCHMARK(every_child_hangs)->Arg(200)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
