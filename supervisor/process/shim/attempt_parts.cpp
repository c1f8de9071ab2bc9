#include "supervisor/process/shim/attempt_parts.hpp"

#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>

#include "common/protocol/protocol.hpp"

namespace trainward::shim {

Result<Fd> take_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGCHLD}) ::sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  // SIGXFSZ: a limit on file sizes is to look like any other full disk.
  for (const int number : {SIGHUP, SIGPIPE, SIGQUIT, SIGXFSZ}) ::signal(number, SIG_IGN);
  Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail_errno(errno, "make a signal descriptor");
  return fd;
}

Result<Mouth> open_mouth(const std::shared_ptr<const Folder>& folder, const LaunchSpec& spec) {
  auto signals = take_signals();
  if (!signals) return propagate(signals);
  auto socket = MessageSocket::open(folder, spec.user);
  if (!socket) return propagate(socket);
  return Mouth{std::move(*signals), std::move(*socket)};
}

Result<AttemptParts> open_parts(const std::shared_ptr<const Folder>& folder,
                                std::optional<Mouth> mouth) {
  auto spec = read_launch_spec(*folder, attempt_files::launch);
  if (!spec) return propagate(spec);
  if (!mouth) {
    auto made = open_mouth(folder, *spec);
    if (!made) return propagate(made);
    mouth.emplace(std::move(*made));
  }
  const auto open = [&](const char* name) {
    return LogFile::open(folder, name, spec->log_max_bytes, spec->log_keep);
  };
  auto output = open(attempt_files::standard_output);
  if (!output) return propagate(output);
  auto error = open(attempt_files::standard_error);
  if (!error) return propagate(error);
  auto output_ring = LogRing::make();
  if (!output_ring) return propagate(output_ring);
  auto error_ring = LogRing::make();
  if (!error_ring) return propagate(error_ring);
  spec->environment[env::socket] = mouth->socket.path().string();
  spec->environment[env::notify_socket] = mouth->socket.path().string();
  StateMemory memory(*spec, folder->path());
  if (memory.state()) spec->environment[env::memory] = memory.numbers();
  return AttemptParts{std::move(*spec),  std::move(*mouth),       std::move(*output),
                      std::move(*error), std::move(*output_ring), std::move(*error_ring),
                      std::move(memory)};
}

}  // namespace trainward::shim
