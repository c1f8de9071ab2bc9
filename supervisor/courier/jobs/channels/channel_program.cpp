#include "supervisor/courier/jobs/channels/channel_program.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "common/os/clock.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/os/processes/helper_program.hpp"

namespace trainward::courier {
namespace {

// In memory, so that nobody waits for who does not read.
Result<Fd> input_of(const std::string& text) {
  Fd file(::memfd_create("message", MFD_CLOEXEC));
  if (!file) return fail_errno(errno, "hold the message for the program");
  if (auto written = write_all(file.get(), text, "message"); !written) return propagate(written);
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return fail_errno(errno, "hold the message");
  return file;
}

std::vector<std::string> environment_of(const ProgramCall& call) {
  std::vector<std::string> variables;
  for (char** at = environ; *at != nullptr; ++at) {
    if (!std::string_view(*at).starts_with("TRAINWARD_")) variables.emplace_back(*at);
  }
  for (const auto& [name, value] : call.environment) {
    variables.push_back(fmt::format("{}={}", name, value.substr(0, value.find('\0'))));
  }
  return variables;
}

enum class Woken { ended, late, stopped };

Woken wait_for_end(int process, int wake, std::int64_t most_ms) {
  const std::int64_t until = now().mono.ms + most_ms;
  while (true) {
    const std::int64_t left = until - now().mono.ms;
    if (left <= 0) return Woken::late;
    std::array<pollfd, 2> watched{{{process, POLLIN, 0}, {wake, POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), static_cast<int>(left)) < 0 && errno != EINTR) {
      return Woken::late;
    }
    if (watched[0].revents != 0) return Woken::ended;
    if (watched[1].revents != 0) return Woken::stopped;
  }
}

}  // namespace

Result<ProgramEnd> run_program(const ProgramCall& call, std::int64_t most_ms,
                               const std::stop_token& stop) {
  if (call.arguments.empty() || !call.arguments.front().starts_with('/')) {
    return fail(ErrorKind::usage, "a program is named by its absolute path");
  }
  auto input = input_of(call.input);
  if (!input) return propagate(input);
  Fd wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake) return fail_errno(errno, "run the program", call.arguments.front());
  const std::stop_callback on_stop(stop, [&] { ::eventfd_write(wake.get(), 1); });

  const auto pid = start({.arguments = call.arguments,
                          .input = input->get(),
                          .environment = environment_of(call),
                          .own_group = true});
  if (!pid) {
    auto failure = fail_errno(pid.error(), "start it", call.arguments.front());
    failure.value().kind = ErrorKind::transient;
    return failure;
  }
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
  const Woken woken = process ? wait_for_end(process.get(), wake.get(), most_ms) : Woken::late;
  // Also what it left behind in its group: it has had its time.
  if (woken != Woken::ended) ::kill(-*pid, SIGKILL);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (woken == Woken::stopped) {
    return fail(ErrorKind::transient, "the program was ended because of a stop",
                call.arguments.front());
  }
  if (woken == Woken::late) return ProgramEnd{ProgramEnd::Kind::too_slow, 0};
  if (WIFSIGNALED(status)) return ProgramEnd{ProgramEnd::Kind::killed, WTERMSIG(status)};
  return ProgramEnd{ProgramEnd::Kind::exited, WEXITSTATUS(status)};
}

}  // namespace trainward::courier
