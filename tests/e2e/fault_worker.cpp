// A worker that trains on nothing and fails on purpose: the subject of the fault matrix.
//
//   fault-worker [--phase load|compile|train|save --fault NAME] [--steps N] [--every N]
//                [--lines N] [--step-ms N] [--flood-ms N] [--helper] [--programs]
//
// The fault happens in the first attempt only, at step 7 in the phases train and save. Checkpoints
// are real ones. Whoever runs beside another copy of itself writes `second-copy`; the moment before
// a fatal fault goes to `died` (milliseconds of the wall clock).
//
// --flood-ms: steps as fast as they can be told for so long, which is the end of it then. --lines:
// numbered lines to stdout, in all, spread over the steps; --helper: leaves a process in a
// session of its own behind; --programs: tells of two programs, compiled in the first attempt, and
// in later ones one from the cache and one that was damaged there.

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "common/os/clock.hpp"
#include "common/os/file.hpp"
#include "common/wire/notifier.hpp"

namespace {

using namespace trainward;

volatile std::sig_atomic_t stop_asked = 0;

struct Settings {
  std::string phase;
  std::string fault;
  long steps = 20;
  long every = 5;
  long lines = 0;
  long step_ms = 5;
  long flood_ms = 0;
  bool helper = false;
  bool programs = false;
};

Settings read_settings(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i];
    if (key == "--helper" || key == "--programs") {
      (key == "--helper" ? settings.helper : settings.programs) = true;
      continue;
    }
    const char* value = i + 1 < argc ? argv[++i] : "";
    if (key == "--phase") settings.phase = value;
    if (key == "--fault") settings.fault = value;
    if (key == "--steps") settings.steps = std::atol(value);
    if (key == "--every") settings.every = std::atol(value);
    if (key == "--lines") settings.lines = std::atol(value);
    if (key == "--flood-ms") settings.flood_ms = std::atol(value);
    if (key == "--step-ms") settings.step_ms = std::atol(value);
  }
  return settings;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void note(const char* name, const std::string& text) {
  const std::string file = variable(env::checkpoint_dir) + "/../" + name;
  if (auto fd = open_file(file, O_WRONLY | O_CREAT | O_APPEND, 0600)) {
    (void)write_all(fd->get(), text + "\n", file);
  }
}

[[noreturn]] void silence() {
  for (;;) ::poll(nullptr, 0, -1);
}

// Takes more memory than its cgroup has. Where nothing stops it, it stops itself before the machine
// suffers.
[[noreturn]] void eat_memory() {
  constexpr std::size_t piece = std::size_t{16} << 20;
  for (int i = 0; i < 64; ++i) {
    auto* memory = static_cast<volatile char*>(std::malloc(piece));
    for (std::size_t at = 0; memory != nullptr && at < piece; at += 4096) memory[at] = 1;
  }
  silence();
}

void flood() {
  const std::string line(200, 'x');
  for (int i = 0; i < 100'000; ++i) std::printf("%d %s\n", i, line.c_str());
}

void garbage(const Notifier& supervisor) {
  supervisor.send({{"STEP", "99999999999999999999"}, {"LOSS", "cheese"}});
  supervisor.send({{"STEP", "-5"}});
  supervisor.send({{"PHASE", "\xff\xfe dancing"}});
  supervisor.send({{"CHECKPOINT", "/etc/passwd"}, {"CHECKPOINT_STEP", "7"}});
  supervisor.send({{"\x01\x02", std::string(3000, '\x03')}});
  std::fwrite("\x00\xff\x1b[31m\n", 1, 8, stderr);
}

void fail(const std::string& fault, const Notifier& supervisor) {
  if (fault == "flood") return flood();
  if (fault == "garbage") return garbage(supervisor);
  // No core files: they would be counted as part of the death.
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  note("died", std::to_string(now().wall.ms));
  if (fault == "sigkill") ::raise(SIGKILL);
  if (fault == "sigstop") ::raise(SIGSTOP);
  if (fault == "sigsegv") ::raise(SIGSEGV);
  if (fault == "abort") std::abort();
  if (fault == "exit1") std::_Exit(1);
  if (fault == "exit75") std::_Exit(75);
  if (fault == "exit78") std::_Exit(78);
  if (fault == "device_oom") {
    std::fputs(
        "TT_FATAL: Out of Memory: Not enough space to allocate 1258291200 B DRAM buffer across 12 "
        "banks\n",
        stderr);
    std::fflush(stderr);
    std::_Exit(1);
  }
  if (fault == "host_oom") eat_memory();
  if (fault == "hang") silence();
}

class Run {
 public:
  explicit Run(Settings settings)
      : settings_(std::move(settings)), supervisor_(Notifier::from_environment()) {}

  int go() {
    claim();
    if (settings_.helper) leave_helper();
    enter("load");
    const std::string from = variable(env::resume_from);
    if (!from.empty()) {
      auto loaded = checkpoint::load(from);
      if (!loaded) return exit_code::failed;
      step_ = loaded->state().step;
    }
    supervisor_.send({{"RESUMED_STEP", std::to_string(step_)}});
    enter("compile");
    if (settings_.programs) tell_of_programs();
    supervisor_.send({{"PHASE", "train"}});
    while (step_ < settings_.steps) {
      if (stop_asked != 0) {
        save();
        return exit_code::try_again;
      }
      if (settings_.flood_ms == 0) ::poll(nullptr, 0, static_cast<int>(settings_.step_ms));
      ++step_;
      const bool flooded = settings_.flood_ms > 0 && now().mono - begin_ >= settings_.flood_ms;
      if (flooded) settings_.steps = step_;
      print_lines();
      if (step_ == 7) trouble("train");
      supervisor_.send({{"STEP", std::to_string(step_)}, {"LOSS", "1.5"}, {"TOKENS", "8"}});
      if (step_ % settings_.every == 0 || step_ == settings_.steps || saves_in_trouble()) save();
    }
    return exit_code::done;
  }

 private:
  void claim() {
    const std::string file = variable(env::checkpoint_dir) + "/../alone";
    auto opened = open_file(file, O_RDWR | O_CREAT, 0600);
    if (!opened) return;  // under another user the folder is not its own
    alone_ = std::move(*opened);
    if (::flock(alone_.get(), LOCK_EX | LOCK_NB) != 0) note("second-copy", variable(env::attempt));
  }

  void leave_helper() {
    if (::fork() != 0) return;
    ::setsid();
    ::signal(SIGTERM, SIG_IGN);
    note("helpers", std::to_string(::getpid()));
    silence();
  }

  void tell_of_programs() {
    const bool first = variable(env::attempt) == "1";
    supervisor_.send(
        {{first ? "CACHE_MISS" : "CACHE_HIT", "aa11"}, {"PROGRAM", "head"}, {"MS", "40"}});
    Message second{{"CACHE_MISS", "bb22"}, {"PROGRAM", "embed"}, {"MS", "30"}};
    if (!first) second.emplace_back("CACHE_DROPPED", "its bytes do not match their checksum");
    supervisor_.send(second);
  }

  [[nodiscard]] bool saves_in_trouble() const { return settings_.phase == "save" && step_ == 7; }

  void trouble(const std::string& phase) {
    if (settings_.phase == phase && variable(env::attempt) == "1") {
      fail(settings_.fault, supervisor_);
    }
  }

  void enter(const std::string& phase) {
    supervisor_.send({{"PHASE", phase}});
    trouble(phase);
  }

  void print_lines() {
    const long until = settings_.lines * step_ / settings_.steps;
    const long from = settings_.lines * (step_ - 1) / settings_.steps;
    for (long i = from; i < until; ++i) std::printf("line %09ld of the worker's output\n", i);
    std::fflush(stdout);
  }

  void save() {
    supervisor_.send({{"PHASE", "save"}});
    if (step_ == 7) trouble("save");
    std::array<float, 8> weights{};
    weights.fill(static_cast<float>(step_));
    checkpoint::Contents contents;
    contents.state.step = step_;
    contents.model = {{{"weight", checkpoint::DType::f32, {8}}, std::as_bytes(std::span(weights))}};
    auto folder = checkpoint::save(variable(env::checkpoint_dir), contents);
    if (folder) {
      supervisor_.send(
          {{"CHECKPOINT", folder->string()}, {"CHECKPOINT_STEP", std::to_string(step_)}});
    }
    supervisor_.send({{"PHASE", "train"}});
  }

  Settings settings_;
  Notifier supervisor_;
  Fd alone_;
  long step_ = 0;
  MonoTime begin_ = now().mono;
};

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGTERM, [](int) { stop_asked = 1; });
  return Run(read_settings(argc, argv)).go();
}
