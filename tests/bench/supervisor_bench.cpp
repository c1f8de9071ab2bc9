// The supervisor as its users time it, with the real programs: how fast a dead worker is replaced,
// how fast a hundred start, what they cost while nothing happens, how long `status` takes, how fast
// a new daemon has them again, how late a hang is ended.
//
//   supervisor_bench FOLDER_OF_PROGRAMS [SCRATCH_FOLDER]
//
// Prints a table; nothing passes or fails here.

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Stamp {
  pid_t pid = 0;
  std::int64_t ns = 0;
};
std::vector<Stamp> stamps(const fs::path& file) {
  std::vector<Stamp> all;
  std::istringstream in(text_of(file));
  for (Stamp stamp; in >> stamp.pid >> stamp.ns;) all.push_back(stamp);
  return all;
}

void wait_a_moment() { ::poll(nullptr, 0, 1); }

// `name: value kB` lines of /proc files.
long field(const fs::path& file, const std::string& name) {
  std::istringstream in(text_of(file));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + ":")) return std::atol(line.c_str() + name.size() + 1);
  }
  return 0;
}

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values.empty()
             ? 0
             : values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

class Bench {
 public:
  Bench(fs::path programs, fs::path scratch)
      : programs_(std::move(programs)), root_(std::move(scratch)), scratch_(root_ / "0") {
    fs::create_directories(scratch_);
  }
  ~Bench() { fs::remove_all(root_); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void respawn(int kills) {
    write_config(1, "");
    const pid_t daemon = start_daemon();
    const fs::path file = scratch_ / "stamp-0";
    while (stamps(file).empty()) wait_a_moment();
    std::vector<double> took;
    for (int i = 0; i < kills; ++i) {
      ::poll(nullptr, 0, 50);
      const auto before = stamps(file);
      const std::int64_t killed = monotonic_ns();
      ::kill(before.back().pid, SIGKILL);
      std::vector<Stamp> after;
      do {
        wait_a_moment();
        after = stamps(file);
      } while (after.size() == before.size());
      took.push_back(static_cast<double>(after.back().ns - killed) / 1e6);
    }
    stop(daemon);
    std::printf(
        "death to main() of the next, ms: p50 %.1f  p90 %.1f  p99 %.1f  max %.1f  (%d kills)\n",
        percentile(took, 0.5), percentile(took, 0.9), percentile(took, 0.99), percentile(took, 1.0),
        kills);
  }

  void hundred() {
    constexpr int count = 100;
    write_config(count, "    autostart: false\n");
    const pid_t daemon = start_daemon();
    while (ctl({"version"}) != 0) wait_a_moment();
    const std::int64_t begun = monotonic_ns();
    ctl({"start", "all"});
    std::int64_t last = 0;
    for (int i = 0; i < count; ++i) {
      const fs::path file = scratch_ / ("stamp-" + std::to_string(i));
      std::vector<Stamp> seen;
      while ((seen = stamps(file)).empty()) wait_a_moment();
      last = std::max(last, seen.front().ns);
    }
    std::printf(
        "100 programs: from `start all` to the last main(), ms: %.0f  (the same workers from a "
        "plain fork and exec: %.0f)\n",
        static_cast<double>(last - begun) / 1e6, plain_start(count));
    idle(daemon);
    status("100 programs");
    stop(adopted(daemon));
  }

  // Silent after its first step: how much later than its deadline it is dead.
  void hang(int rounds) {
    constexpr double deadline_ms = 1'000;
    std::ofstream(scratch_ / "run.yaml")
        << "programs:\n  hung:\n    command: [/bin/sh, -c, 'echo step 1; echo $$ >> pids; exec "
           "/usr/bin/tail -f /dev/null']\n    directory: "
        << scratch_.string()
        << "\n    watch: {log: [{match: 'step (?P<step>[0-9]+)', phase: train}]}\n"
           "    deadlines: {load: 1s, train_floor: 1s}\n    backoff: {first: 0s, max: 0s}\n"
           "    budgets: {attempts_without_progress: 100000, attempts: 100000}\n";
    const pid_t daemon = start_daemon();
    std::vector<double> late;
    for (std::size_t round = 0; late.size() < static_cast<std::size_t>(rounds); ++round) {
      std::vector<pid_t> pids;
      while ((pids = numbers(scratch_ / "pids")).size() <= round) wait_a_moment();
      const auto began = Clock::now();
      while (::kill(pids[round], 0) == 0) wait_a_moment();
      late.push_back(ms_since(began) - deadline_ms);
    }
    stop(daemon);
    std::printf("hang to its end, ms after the deadline: p50 %.0f  max %.0f  (%d hangs)\n",
                percentile(late, 0.5), percentile(late, 1.0), rounds);
  }

  void flooded() {
    std::ofstream(scratch_ / "run.yaml")
        << "programs:\n  flood: {command: [/usr/bin/yes, a line of output that never ends]}\n"
        << entries(99, "");
    const pid_t daemon = start_daemon();
    for (int i = 0; i < 99; ++i) {
      while (stamps(scratch_ / ("stamp-" + std::to_string(i))).empty()) wait_a_moment();
    }
    status("100 programs, one floods its log");
    stop(daemon);
  }

 private:
  [[nodiscard]] std::string entries(int count, const std::string& more) const {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      text += "  p" + number + ":\n    command: [" + (programs_ / "stamp-worker").string() + ", " +
              (scratch_ / ("stamp-" + number)).string() +
              "]\n    backoff: {first: 0s, max: 0s}\n"
              "    budgets: {attempts_without_progress: 100000, attempts: 100000}\n" +
              more;
    }
    return text;
  }
  void write_config(int count, const std::string& more) const {
    std::ofstream(scratch_ / "run.yaml") << "programs:\n" << entries(count, more);
  }

  pid_t start(const std::vector<std::string>& argv) const {
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      const int null = ::open("/dev/null", O_WRONLY);
      ::dup2(null, STDOUT_FILENO);
      ::dup2(null, STDERR_FILENO);
      if (::chdir(scratch_.c_str()) == 0) ::execv(words[0], words.data());
      ::_exit(127);
    }
    return pid;
  }
  pid_t start_daemon() const { return start({(programs_ / "trainwardd").string(), "run.yaml"}); }
  int ctl(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), (programs_ / "trainwardctl").string());
    int status = 0;
    ::waitpid(start(arguments), &status, 0);
    return WEXITSTATUS(status);
  }
  void stop(pid_t daemon) {
    ::kill(daemon, SIGTERM);
    ::waitpid(daemon, nullptr, 0);
    // Another folder for the next part; removing this one now would slow that part down: ext4 does
    // not use an inode again within 35 s and searches for others.
    scratch_ = root_ / std::to_string(++parts_);
    fs::create_directories(scratch_);
  }

  static std::vector<pid_t> numbers(const fs::path& file) {
    std::vector<pid_t> all;
    std::istringstream in(text_of(file));
    for (pid_t pid = 0; in >> pid;) all.push_back(pid);
    return all;
  }

  // What the machine needs for the workers alone.
  double plain_start(int count) const {
    const fs::path file = scratch_ / "plain";
    const auto begin = Clock::now();
    std::vector<pid_t> pids;
    for (int i = 0; i < count; ++i) {
      pids.push_back(start({(programs_ / "stamp-worker").string(), file.string()}));
    }
    while (stamps(file).size() < static_cast<std::size_t>(count)) wait_a_moment();
    const double took = ms_since(begin);
    for (const pid_t pid : pids) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    return took;
  }

  // The next daemon's pid; it is done when `status` finds every program running.
  pid_t adopted(pid_t daemon) const {
    ::kill(daemon, SIGKILL);
    ::waitpid(daemon, nullptr, 0);
    const auto begin = Clock::now();
    const pid_t next = start_daemon();
    // `pid` asks the daemon alone, `status` would ask its database instead.
    while (ctl({"pid"}) != 0 || ctl({"status"}) != 0) wait_a_moment();
    std::printf("daemon killed and started again, 100 workers its own, ms: %.0f\n",
                ms_since(begin));
    return next;
  }

  void idle(pid_t daemon) const {
    constexpr int seconds = 10;
    const fs::path proc = fs::path("/proc") / std::to_string(daemon);
    // What the start itself left to do is not idleness.
    ::poll(nullptr, 0, 3'000);
    const long before = field(proc / "status", "voluntary_ctxt_switches");
    ::poll(nullptr, 0, seconds * 1'000);
    const long woken = field(proc / "status", "voluntary_ctxt_switches") - before;
    long shims = 0;
    long shim_kib = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      if (text_of(entry.path() / "comm") != "trainward-shim\n") continue;
      if (text_of(entry.path() / "cmdline").find(scratch_.string()) == std::string::npos) continue;
      ++shims;
      shim_kib += field(entry.path() / "smaps_rollup", "Private_Dirty") +
                  field(entry.path() / "smaps_rollup", "Private_Clean");
    }
    std::printf(
        "idle with 100 programs: %ld wake-ups in %d s; daemon resident %.1f MB; %ld shims of "
        "%ld KiB private memory each\n",
        woken, seconds, static_cast<double>(field(proc / "status", "VmRSS")) / 1024.0, shims,
        shims == 0 ? 0 : shim_kib / shims);
  }

  void status(const char* when) const {
    std::vector<double> took;
    for (int i = 0; i < 50; ++i) {
      const auto begin = Clock::now();
      ctl({"status"});
      took.push_back(ms_since(begin));
    }
    std::printf("trainwardctl status, %s, ms: p50 %.1f  p90 %.1f  max %.1f\n", when,
                percentile(took, 0.5), percentile(took, 0.9), percentile(took, 1.0));
  }

  fs::path programs_;
  fs::path root_;
  int parts_ = 0;
  fs::path scratch_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: supervisor_bench FOLDER_OF_PROGRAMS [SCRATCH_FOLDER]\n", stderr);
    return 2;
  }
  const fs::path scratch =
      argc > 2 ? fs::path(argv[2])
               : fs::current_path() / ("supervisor-bench-" + std::to_string(::getpid()));
  ::setvbuf(stdout, nullptr, _IOLBF, 0);
  Bench bench(fs::absolute(argv[1]), fs::absolute(scratch));
  bench.respawn(100);
  bench.hundred();
  bench.flooded();
  bench.hang(10);
}
