#include "supervisor/shim/shim.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "common/file.hpp"
#include "common/journal.hpp"
#include "common/launch.hpp"
#include "common/process_id.hpp"
#include "common/protocol.hpp"
#include "common/unix_socket.hpp"
#include "supervisor/shim/log_pump.hpp"
#include "supervisor/shim/worker_process.hpp"

namespace trainward::shim {
namespace {

constexpr std::int64_t sweep_ms = 5'000;

// The worker's end of the message socket. Where the attempt's folder lies too deep for a socket
// address, a private folder under /tmp takes its place, since a worker in any language must be able
// to connect by path.
class MessageSocket {
 public:
  static Result<MessageSocket> open(const std::filesystem::path& folder) {
    MessageSocket made;
    made.path_ = folder / "worker.sock";
    if (made.path_.string().size() >= sizeof(sockaddr_un::sun_path)) {
      std::string pattern = "/tmp/trainward-XXXXXX";
      if (::mkdtemp(pattern.data()) == nullptr) {
        return fail_errno(errno, "make a folder for the worker's socket", pattern);
      }
      made.temporary_ = pattern;
      made.path_ = std::filesystem::path(pattern) / "worker.sock";
    }
    auto fd = bind_datagram(made.path_, 0600);
    if (!fd) return propagate(fd);
    made.fd_ = std::move(*fd);
    return made;
  }
  MessageSocket(MessageSocket&&) = default;
  MessageSocket& operator=(MessageSocket&&) = delete;
  MessageSocket(const MessageSocket&) = delete;
  MessageSocket& operator=(const MessageSocket&) = delete;
  ~MessageSocket() {
    if (!fd_) return;
    ::unlink(path_.c_str());
    if (!temporary_.empty()) ::rmdir(temporary_.c_str());
  }

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // One datagram, or nothing when none is waiting.
  std::optional<std::string> receive() const {
    std::string text(max_message_bytes, '\0');
    const ssize_t got = ::recv(fd_.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (got < 0) return std::nullopt;
    text.resize(static_cast<std::size_t>(got));
    return text;
  }

 private:
  MessageSocket() = default;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  Fd fd_;
};

Result<Fd> take_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGCHLD}) ::sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  for (const int number : {SIGHUP, SIGPIPE, SIGQUIT}) ::signal(number, SIG_IGN);
  Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return fail_errno(errno, "make a signal descriptor");
  return fd;
}

class Attempt {
 public:
  Attempt(JournalWriter journal, MessageSocket socket, Fd signals, WorkerProcess worker,
          LogPump output, LogPump error)
      : journal_(std::move(journal)),
        socket_(std::move(socket)),
        signals_(std::move(signals)),
        worker_(std::move(worker)),
        output_(std::move(output)),
        error_(std::move(error)) {}

  void run() {
    while (!status_) wait();
    finish();
  }

 private:
  void wait() {
    std::array<pollfd, 4> watched{{{signals_.get(), POLLIN, 0},
                                   {socket_.fd(), POLLIN, 0},
                                   {output_.pipe(), POLLIN, 0},
                                   {error_.pipe(), POLLIN, 0}}};
    if (::poll(watched.data(), watched.size(), -1) < 0) return;
    if (watched[1].revents != 0) take_messages();
    if (watched[2].revents != 0) output_.pump();
    if (watched[3].revents != 0) error_.pump();
    if (watched[0].revents != 0) take_signal();
  }

  void take_signal() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
      switch (info.ssi_signo) {
        case SIGTERM:
        case SIGINT:
          ::kill(-worker_.pid, SIGTERM);
          break;
        case SIGUSR1:
          ::kill(worker_.pid, SIGUSR1);
          break;
        case SIGUSR2:
          // A stopped process cannot die before it runs again.
          ::kill(-worker_.pid, SIGCONT);
          ::kill(-worker_.pid, SIGKILL);
          break;
        case SIGCHLD:
          reap();
          break;
        default:
          break;
      }
    }
  }

  // As subreaper the shim also inherits the worker's orphans.
  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid == worker_.pid) status_ = status;
    }
  }

  // Helpers of this attempt must not live into the next. Whatever the worker started and left, in
  // its group or in a session of its own, has become a child of this subreaper: killed until none
  // is left, or until only the kernel can be holding one back.
  void sweep() {
    const std::int64_t give_up = now().mono_ms + sweep_ms;
    ::kill(-worker_.pid, SIGKILL);
    for (;;) {
      for (const pid_t child : children()) ::kill(child, SIGKILL);
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      const std::int64_t left = give_up - now().mono_ms;
      if (children().empty() || left <= 0) return;
      signalfd_siginfo info{};
      while (::read(signals_.get(), &info, sizeof(info)) > 0) {
      }
      pollfd ended{signals_.get(), POLLIN, 0};
      ::poll(&ended, 1, static_cast<int>(std::min<std::int64_t>(left, 50)));
    }
  }

  static std::vector<pid_t> children() {
    std::vector<pid_t> found;
    std::istringstream list(
        read_file(fmt::format("/proc/self/task/{}/children", ::getpid()), 1 << 20).value_or(""));
    for (pid_t pid = 0; list >> pid;) found.push_back(pid);
    return found;
  }

  void take_messages() {
    // Bounded a turn for the same reason as the logs; a burst is taken over several turns.
    for (int turn = 0; turn < 256; ++turn) {
      const auto text = socket_.receive();
      if (!text) return;
      const Message message = parse_message(*text);
      if (message.empty()) continue;
      json::object fields;
      for (const auto& [key, value] : message) fields[key] = value;
      record("message", {{"fields", std::move(fields)}}, false);
    }
  }

  void record(std::string_view type, json::object fields, bool sync) {
    if (!journal_.append(type, std::move(fields), now(), sync)) ++dropped_records_;
  }

  void finish() {
    const int status = *status_;
    const Time ended = now();
    sweep();
    take_messages();
    while (output_.pump() && readable(output_.pipe())) {
    }
    while (error_.pump() && readable(error_.pipe())) {
    }
    const std::uint64_t lost_bytes = output_.dropped_bytes() + error_.dropped_bytes();
    if (dropped_records_ > 0 || lost_bytes > 0) {
      record("dropped", {{"messages", dropped_records_}, {"log_bytes", lost_bytes}}, false);
    }
    json::object fields;
    if (WIFSIGNALED(status)) {
      fields["signal"] = WTERMSIG(status);
    } else {
      fields["code"] = WEXITSTATUS(status);
    }
    (void)journal_.append("exited", std::move(fields), ended, true);
  }

  static bool readable(int fd) {
    pollfd one{fd, POLLIN, 0};
    return fd >= 0 && ::poll(&one, 1, 0) > 0;
  }

  JournalWriter journal_;
  MessageSocket socket_;
  Fd signals_;
  WorkerProcess worker_;
  LogPump output_;
  LogPump error_;
  std::optional<int> status_;
  std::int64_t dropped_records_ = 0;
};

}  // namespace

Status run(const std::filesystem::path& folder) {
  auto journal = JournalWriter::open(folder / attempt_files::journal);
  if (!journal) return propagate(journal);
  // Whatever goes wrong before the worker runs is told in the journal, where the daemon looks.
  auto give_up = [&](const Error& error) -> Status {
    (void)journal->append("exec_failed", {{"what", error.message()}}, now(), true);
    return tl::unexpected<Error>(error);
  };
  auto spec = read_launch_spec(folder / attempt_files::launch);
  if (!spec) return give_up(spec.error());
  auto signals = take_signals();
  if (!signals) return give_up(signals.error());
  auto socket = MessageSocket::open(folder);
  if (!socket) return give_up(socket.error());
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);

  spec->environment[env::socket] = socket->path().string();
  spec->environment[env::notify_socket] = socket->path().string();
  auto worker = start_worker(*spec);
  if (!worker) return give_up(worker.error());
  auto output =
      LogPump::open(std::move(worker->standard_output), folder / attempt_files::standard_output);
  auto error =
      LogPump::open(std::move(worker->standard_error), folder / attempt_files::standard_error);
  auto self = identify(::getpid());
  auto identity = identify(worker->pid);
  if (!output || !error || !self || !identity) {
    ::kill(-worker->pid, SIGKILL);
    ::waitpid(worker->pid, nullptr, 0);
    return give_up(!output  ? output.error()
                   : !error ? error.error()
                   : !self  ? self.error()
                            : identity.error());
  }
  (void)journal->append("started",
                        {{"version", 1},
                         {"nonce", spec->nonce},
                         {"pid", identity->pid},
                         {"start_ticks", identity->start_ticks},
                         {"shim_pid", self->pid},
                         {"shim_start_ticks", self->start_ticks},
                         {"boot_id", self->boot}},
                        now(), true);
  Attempt(std::move(*journal), std::move(*socket), std::move(*signals), std::move(*worker),
          std::move(*output), std::move(*error))
      .run();
  return {};
}

}  // namespace trainward::shim
