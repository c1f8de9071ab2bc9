#include "supervisor/daemon/loop/child_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "common/base/text.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/os/pipe.hpp"
#include "supervisor/daemon/loop/spawn.hpp"

namespace trainward::daemon {
namespace {

constexpr std::size_t max_output_bytes = 4 * 1024 * 1024;
constexpr std::size_t kept_error_bytes = 4 * 1024;

struct Collected {
  Fd read;
  std::string text;
  bool overflow = false;

  // False when the pipe has ended.
  bool take(std::size_t keep_tail) {
    std::array<char, 64 * 1024> chunk{};
    for (;;) {
      const ssize_t got = ::read(read.get(), chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno == EAGAIN;
      if (got == 0) return false;
      text.append(chunk.data(), static_cast<std::size_t>(got));
      if (keep_tail > 0 && text.size() > keep_tail) text.erase(0, text.size() - keep_tail);
      overflow = text.size() > max_output_bytes;
      if (overflow) return false;
    }
  }
};

}  // namespace

struct ChildProcess::Impl {
  Impl(Loop& loop_in, std::string name_in, Done done_in)
      : loop(loop_in), name(std::move(name_in)), deadline(loop_in), done(std::move(done_in)) {}
  ~Impl() {
    exited.reset();
    output_watch.reset();
    error_watch.reset();
    kill_all();
    if (pid > 0 && !reaped) ::waitpid(pid, nullptr, WNOHANG);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status start(const std::vector<std::string>& argv,
               const std::optional<Environment>& environment) {
    auto out = make_polled_pipe();
    if (!out) return propagate(out);
    auto err = make_polled_pipe();
    if (!err) return propagate(err);
    output.read = std::move(out->read);
    error.read = std::move(err->read);
    auto null = open_file("/dev/null", O_RDONLY);
    if (!null) return propagate(null);
    auto started =
        spawn(argv, {null->get(), out->write.get(), err->write.get()}, environment, true);
    if (!started) return propagate(started);
    pid = *started;
    auto fd = open_child(pid);
    if (!fd) return propagate(fd);
    pidfd.reset(*fd);
    return {};
  }

  void kill_all() const {
    if (pid > 0 && !reaped) ::kill(-pid, SIGKILL);
  }

  void refuse_flood() {
    kill_all();
    finish(fail(ErrorKind::permanent,
                "printed more than " + human_bytes(max_output_bytes) + "; it was ended", name));
  }

  void finish(Result<ChildResult> result) {
    if (!done) return;
    deadline.cancel();
    auto callback = std::move(done);
    done = nullptr;
    callback(std::move(result));
  }

  void on_exit() {
    int status = 0;
    // While its number is its own: what it has left behind would go on with what it was given, and
    // a reset goes on for as long as one of its processes has the board.
    kill_all();
    if (::waitpid(pid, &status, WNOHANG) != pid) return;
    reaped = true;
    output.take(0);
    error.take(kept_error_bytes);
    exited.reset();
    output_watch.reset();
    error_watch.reset();
    if (output.overflow) return refuse_flood();
    finish(ChildResult{WIFEXITED(status) ? WEXITSTATUS(status) : -1, std::move(output.text),
                       std::string(trim(error.text))});
  }

  Loop& loop;
  std::string name;
  Timer deadline;
  Done done;
  pid_t pid = 0;
  bool reaped = false;
  Fd pidfd;
  Collected output;
  Collected error;
  std::optional<Watch> output_watch;
  std::optional<Watch> error_watch;
  std::optional<Watch> exited;
};

ChildProcess::ChildProcess(Loop& loop, std::vector<std::string> argv, std::int64_t deadline_ms,
                           Done done, const std::optional<Environment>& environment)
    : impl_(std::make_shared<Impl>(loop, argv.front(), std::move(done))) {
  // Callbacks look through a weak pointer: the owner may destroy this object inside `done`.
  const std::weak_ptr<Impl> weak = impl_;
  if (auto started = impl_->start(argv, environment); !started) {
    loop.post([weak, error = started.error()] {
      if (auto self = weak.lock()) self->finish(tl::unexpected<Error>(error));
    });
    return;
  }
  impl_->output_watch.emplace(loop, impl_->output.read.get(), [weak] {
    auto self = weak.lock();
    if (!self || self->output.take(0)) return;
    self->output_watch.reset();
    if (self->output.overflow) self->refuse_flood();
  });
  impl_->error_watch.emplace(loop, impl_->error.read.get(), [weak] {
    auto self = weak.lock();
    if (self && !self->error.take(kept_error_bytes)) self->error_watch.reset();
  });
  impl_->exited.emplace(loop, impl_->pidfd.get(), [weak] {
    if (auto self = weak.lock()) self->on_exit();
  });
  impl_->deadline.after(deadline_ms, [weak, deadline_ms, name = argv.front()] {
    auto self = weak.lock();
    if (!self) return;
    self->kill_all();
    self->finish(fail(ErrorKind::transient,
                      fmt::format("gave no answer within {}", human_duration(deadline_ms)), name));
  });
}

ChildProcess::~ChildProcess() = default;

}  // namespace trainward::daemon
