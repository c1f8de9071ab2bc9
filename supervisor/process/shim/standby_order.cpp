#include "supervisor/process/shim/standby_order.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include "common/os/sockets/passed_descriptors.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward::shim {
namespace {

constexpr std::size_t most_bytes = 8192;
// So much may the worker print while it waits; more, and it waits for room.
constexpr int pipe_bytes = 1 << 20;

tl::unexpected<Error> ended(const char* why) { return fail(ErrorKind::permanent, why); }

class Wait {
 public:
  Wait(const Mouth& mouth, const WorkerProcess& worker) : mouth_(mouth), worker_(worker) {}

  Result<Order> run() {
    for (;;) {
      std::array<pollfd, 3> watched{{{standby_channel, POLLIN, 0},
                                     {mouth_.signals.get(), POLLIN, 0},
                                     {mouth_.socket.fd(), POLLIN, 0}}};
      if (::poll(watched.data(), watched.size(), -1) < 0) continue;
      if (watched[1].revents != 0) {
        if (const char* why = take_signals()) return ended(why);
      }
      if (watched[2].revents != 0 && take_messages()) {
        say("trains");
        return ended("the worker trains before it was told to begin");
      }
      if (watched[0].revents != 0) {
        auto order = take_order();
        if (!order) return ended("the standby is not needed");
        return *std::move(order);
      }
    }
  }

 private:
  void say(std::string_view word) const {
    (void)!::send(standby_channel, word.data(), word.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  // Why it is to end; nullptr: it goes on.
  const char* take_signals() const {
    signalfd_siginfo info{};
    while (::read(mouth_.signals.get(), &info, sizeof(info)) == sizeof(info)) {
      if (info.ssi_signo != SIGCHLD) return "the standby was asked to end";
      siginfo_t worker{};
      ::waitid(P_PID, static_cast<id_t>(worker_.pid), &worker, WEXITED | WNOHANG | WNOWAIT);
      if (worker.si_pid != 0) return "the worker ended before it was told to begin";
      // Helpers of its own.
      while (::waitid(P_ALL, 0, &worker, WEXITED | WNOHANG | WNOWAIT) == 0 && worker.si_pid != 0) {
        if (worker.si_pid == worker_.pid) break;
        ::waitpid(worker.si_pid, nullptr, 0);
        worker = {};
      }
    }
    return nullptr;
  }

  // Whether it has told of a step.
  bool take_messages() {
    while (const auto message = mouth_.socket.receive()) {
      if (find(*message, "STEP")) return true;
      if (find(*message, "READY")) say("ready");
    }
    return false;
  }

  static std::optional<Order> take_order() {
    auto passed = receive_with_descriptors(standby_channel, most_bytes, MSG_DONTWAIT);
    constexpr std::string_view begin = "begin ";
    if (!passed || !passed->bytes.starts_with(begin)) return std::nullopt;
    return Order{passed->bytes.substr(begin.size()), std::move(passed->descriptors)};
  }

  const Mouth& mouth_;
  const WorkerProcess& worker_;
};

}  // namespace

Result<Word> make_word() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail_errno(errno, "make a channel to the worker");
  }
  return Word{Fd(ends[0]), Fd(ends[1])};
}

Result<Order> wait_for_order(const Mouth& mouth, const WorkerProcess& worker) {
  ::fcntl(standby_channel, F_SETFD, FD_CLOEXEC);
  for (const Fd* pipe : {&worker.standard_output, &worker.standard_error}) {
    (void)!::fcntl(pipe->get(), F_SETPIPE_SZ, pipe_bytes);
  }
  return Wait(mouth, worker).run();
}

}  // namespace trainward::shim
