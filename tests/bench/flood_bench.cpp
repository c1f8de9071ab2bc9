// What is written to the disk while a worker tells of steps as fast as they are taken from it.
//
//   flood_bench FOLDER_OF_PROGRAMS [SCRATCH_FOLDER [SECONDS]]
//
// FOLDER_OF_PROGRAMS has trainwardd, trainwardctl and, from the same build, step-worker. Prints a
// line; nothing passes or fails here.

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

pid_t start_daemon(const fs::path& program, const fs::path& folder) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  const int log = ::open((folder / "daemon.log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (::chdir(folder.c_str()) == 0) ::execl(program.c_str(), program.c_str(), "run.yaml", nullptr);
  ::_exit(127);
}

// Given to write(2) and its like, files that are written again counted each time.
double megabytes_written(pid_t pid) {
  std::ifstream io("/proc/" + std::to_string(pid) + "/io");
  std::int64_t value = 0;
  for (std::string key; io >> key >> value;) {
    if (key == "wchar:") return static_cast<double>(value) / 1e6;
  }
  return 0;
}

double processor_seconds(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/schedstat");
  double nanoseconds = 0;
  file >> nanoseconds;
  return nanoseconds / 1e9;
}

double megabytes_in(const fs::path& folder) {
  std::uintmax_t sum = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) sum += entry.file_size();
  }
  return static_cast<double>(sum) / 1e6;
}

std::int64_t steps_told(const fs::path& counter) {
  std::int64_t steps = 0;
  std::ifstream(counter, std::ios::binary).read(reinterpret_cast<char*>(&steps), sizeof steps);
  return steps;
}

pid_t shim_of(const fs::path& journal) {
  std::ifstream file(journal);
  std::string first;
  std::getline(file, first);
  const std::string key = "\"shim_pid\":";
  const auto at = first.find(key);
  return at == std::string::npos ? 0 : std::atoi(first.c_str() + at + key.size());
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: flood_bench FOLDER_OF_PROGRAMS [SCRATCH_FOLDER [SECONDS]]\n");
    return 2;
  }
  const fs::path programs = fs::absolute(arguments[1]);
  const int seconds = count > 3 ? std::atoi(arguments[3]) : 60;
  const fs::path folder = fs::path(count > 2 ? arguments[2] : "/var/tmp") /
                          ("flood-bench-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::int64_t pace = 0;
  std::ofstream(folder / "pace", std::ios::binary)
      .write(reinterpret_cast<const char*>(&pace), sizeof pace);
  std::ofstream(folder / "run.yaml")
      << "programs:\n  run:\n    command: [" << (programs / "step-worker").string() << ", "
      << (folder / "counter").string() << ", " << (folder / "pace").string()
      << "]\n    watch: {protocol: true}\n";
  const pid_t daemon = start_daemon(programs / "trainwardd", folder);
  const fs::path journal = folder / ".trainward/runs/run/attempts/0001/journal.ndjson";
  pid_t shim = 0;
  while ((shim = shim_of(journal)) == 0) ::poll(nullptr, 0, 5);
  const auto begin = Clock::now();
  ::poll(nullptr, 0, seconds * 1'000);
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto steps = static_cast<double>(steps_told(folder / "counter"));
  std::printf(
      "%.0f steps a second for %.0f s: written by the shim %.2f MB/s, by the daemon %.2f MB/s; on "
      "the disk %.1f MB; main threads' processor time: shim %.0f %%, daemon %.0f %%\n",
      steps / took, took, megabytes_written(shim) / took, megabytes_written(daemon) / took,
      megabytes_in(folder / ".trainward"), 100 * processor_seconds(shim) / took,
      100 * processor_seconds(daemon) / took);
  ::kill(daemon, SIGTERM);
  ::waitpid(daemon, nullptr, 0);
  fs::remove_all(folder);
  return 0;
}
