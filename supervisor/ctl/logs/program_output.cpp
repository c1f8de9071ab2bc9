#include "supervisor/ctl/logs/program_output.hpp"

#include <fcntl.h>
#include <poll.h>
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
#include "common/os/pipe.hpp"
#include "common/os/processes/helper_program.hpp"

namespace trainward::ctl {
namespace {

constexpr std::int64_t patience_ms = 10'000;
constexpr std::size_t most_bytes = 4 * 1024 * 1024;

}  // namespace

std::string output_of_program(const std::string& name, std::vector<std::string> words) {
  auto pipe = make_pipe();
  if (!pipe) return "";
  const Fd from = std::move(pipe->read);
  std::error_code error;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  words.insert(words.begin(), (beside / name).string());
  const auto pid = start({.arguments = std::move(words), .output = pipe->write.get()});
  if (!pid) return "";
  pipe->write.reset();

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
  if (!in_time) ::kill(*pid, SIGKILL);
  ::waitpid(*pid, nullptr, in_time ? 0 : WNOHANG);
  return output;
}

}  // namespace trainward::ctl
