#include "supervisor/ctl/client/ssh_process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "common/os/pipe.hpp"
#include "common/os/processes/helper_program.hpp"

namespace trainward::ctl::remote {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_said = 16 << 10;
constexpr std::chrono::milliseconds for_last_words{2'000};
constexpr std::chrono::milliseconds after_term{1'000};

}  // namespace

SshProcess SshProcess::start(const Address& address, bool may_ask) {
  SshProcess process;
  std::array<int, 2> ends{-1, -1};
  auto errors = make_polled_pipe();
  if (!errors || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    process.ending_.not_started = EMFILE;
    return process;
  }
  process.io_.reset(ends[0]);
  const Fd theirs(ends[1]);
  process.errors_ = std::move(errors->read);
  std::vector<std::string> words = ssh_arguments(address, may_ask);
  words.insert(words.begin(), "ssh");
  const int io = theirs.get();
  const auto pid = trainward::start(
      {.arguments = std::move(words), .input = io, .output = io, .errors = errors->write.get()});
  if (pid) {
    process.pid_ = *pid;
  } else {
    process.ending_.not_started = pid.error();
    process.io_.reset();
  }
  return process;
}

SshProcess::SshProcess(SshProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      io_(std::move(other.io_)),
      errors_(std::move(other.errors_)),
      ending_(std::move(other.ending_)) {}

void SshProcess::read_errors() {
  std::array<char, 4096> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  while (errors_) {
    const ssize_t got = ::read(errors_.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (got == 0) errors_.reset();
      return;
    }
    ending_.said.append(piece.data(), static_cast<std::size_t>(got));
    // The newest counts, and nobody waits for a pipe to be read.
    if (ending_.said.size() > most_said) {
      ending_.said.erase(0, ending_.said.size() - most_said);
    }
  }
}

// A shared connection that ssh leaves in the background holds stderr: the process counts, not the
// pipe's end.
bool SshProcess::ends_within(std::chrono::milliseconds time) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  const auto end = Clock::now() + time;
  for (;;) {
    int status = 0;
    const pid_t gone = ::waitpid(pid_, &status, process ? WNOHANG : 0);
    if (gone == pid_ || (gone < 0 && errno == ECHILD)) {
      if (gone == pid_ && WIFEXITED(status)) ending_.exit_code = WEXITSTATUS(status);
      pid_ = -1;
      read_errors();
      return true;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> polled{{{process.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}}};
    ::poll(polled.data(), polled.size(), static_cast<int>(left.count()));
    if (polled[1].revents != 0) read_errors();
  }
}

Ending SshProcess::end() {
  io_.reset();
  if (pid_ > 0 && !ends_within(for_last_words)) stop();
  return ending_;
}

void SshProcess::stop() {
  io_.reset();
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  if (ends_within(after_term)) return;
  ::kill(pid_, SIGKILL);
  ends_within(after_term);
}

}  // namespace trainward::ctl::remote
