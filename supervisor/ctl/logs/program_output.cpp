#include "supervisor/ctl/logs/program_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "common/os/clock.hpp"
#include "common/os/fd.hpp"

namespace trainward::ctl {
namespace {

constexpr std::int64_t patience_ms = 10'000;
constexpr std::size_t most_bytes = 4 * 1024 * 1024;

}  // namespace

std::string output_of_program(const std::string& name, std::vector<std::string> words) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "";
  const Fd from(ends[0]);
  Fd into(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, into.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::error_code error;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::string path = (beside / name).string();
  std::vector<char*> argv{path.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  const bool started =
      ::posix_spawn(&pid, path.c_str(), &actions, nullptr, argv.data(), environ) == 0;
  ::posix_spawn_file_actions_destroy(&actions);
  if (!started) return "";
  into = Fd();

  std::string output;
  std::array<char, 16'384> piece{};
  const MonoTime end = trainward::now().mono + patience_ms;
  for (;;) {
    pollfd readable{from.get(), POLLIN, 0};
    const std::int64_t left = end - trainward::now().mono;
    if (left <= 0 || ::poll(&readable, 1, static_cast<int>(left)) == 0) break;
    const ssize_t got = ::read(from.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || output.size() > most_bytes) break;
    output.append(piece.data(), static_cast<std::size_t>(got));
  }
  // One that hangs in the kernel outlives this; nothing waits for it.
  const bool in_time = trainward::now().mono < end;
  if (!in_time) ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, in_time ? 0 : WNOHANG);
  return output;
}

}  // namespace trainward::ctl
