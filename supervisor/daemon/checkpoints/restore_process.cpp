#include "supervisor/daemon/checkpoints/restore_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/json/json.hpp"
#include "common/base/line_splitter.hpp"
#include "common/base/text.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/os/pipe.hpp"
#include "supervisor/daemon/loop/spawn.hpp"

namespace trainward::daemon {
namespace {

constexpr std::size_t longest_line = 16 * 1024;
constexpr std::size_t pipe_bytes = 64 * 1024;  // what every pipe holds

std::string size_words(std::int64_t bytes) {
  return human_bytes(static_cast<std::uint64_t>(bytes < 0 ? 0 : bytes));
}

}  // namespace

struct RestoreProcess::Impl : std::enable_shared_from_this<Impl> {
  Impl(Loop& loop_in, Told told_in)
      : loop(loop_in), told(std::move(told_in)), lines(longest_line) {}
  ~Impl() {
    exited.reset();
    words.reset();
    // What it leaves half done is removed by the next.
    if (pid > 0) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, WNOHANG);
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status start(const std::filesystem::path& courier, const orders::Orders& orders) {
    const std::string line = orders::line_of(orders) + "\n";
    if (line.size() > pipe_bytes) {
      return fail(ErrorKind::permanent, "the orders are too long", courier.string(),
                  "name fewer targets");
    }
    auto in = make_pipe();
    if (!in) return propagate(in);
    auto out = make_polled_pipe();
    if (!out) return propagate(out);
    if (auto ok = write_all(in->write.get(), line, "a pipe"); !ok) return ok;
    auto null = open_file("/dev/null", O_WRONLY);
    if (!null) return propagate(null);
    auto spawned =
        spawn({courier.string(), "restore"}, {in->read.get(), out->write.get(), null->get()});
    if (!spawned) return propagate(spawned);
    pid = *spawned;
    auto child = open_child(pid);
    if (!child) return propagate(child);
    pidfd.reset(*child);
    input = std::move(in->write);
    output = std::move(out->read);
    const std::weak_ptr<Impl> weak = weak_from_this();
    words.emplace(loop, output.get(), [weak] {
      if (auto self = weak.lock(); self && !self->take()) self->words.reset();
    });
    exited.emplace(loop, pidfd.get(), [weak] {
      if (auto self = weak.lock()) self->on_exit();
    });
    return {};
  }

  // False: nothing more will come.
  bool take() {
    std::array<char, 16 * 1024> chunk{};
    while (true) {
      const ssize_t got = ::read(output.get(), chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno == EAGAIN;
      if (got == 0) return false;
      lines.feed(std::string_view(chunk.data(), static_cast<std::size_t>(got)),
                 [this](std::string_view line, std::int64_t) { take_line(line); });
    }
  }

  void take_line(std::string_view line) {
    auto value = parse_json(line, "trainward-courier");
    const json::object* object = value ? value->if_object() : nullptr;
    if (object == nullptr) return;
    if (auto at = get_object(*object, "progress")) {
      doing =
          fmt::format("no checkpoint is here; fetching step {} from '{}': {} of {}",
                      int_or(**at, "step", 0), clean(string_or(**at, "target", "")),
                      size_words(int_or(**at, "bytes", 0)), size_words(int_or(**at, "total", 0)));
    } else if (auto restored = get_object(*object, "restored")) {
      const json::object& about = **restored;
      const std::string path = string_or(about, "path", "");
      result = path;
      result_words = path.empty()
                         ? "no target has a checkpoint of it: a new run"
                         : fmt::format("restored step {} from '{}' ({})", int_or(about, "step", 0),
                                       clean(string_or(about, "target", "")),
                                       size_words(int_or(about, "bytes", 0)));
    } else if (object->contains("error")) {
      result = fail(ErrorKind::transient, clean(string_or(*object, "error", "")));
    } else if (object->contains("note")) {
      told.note(clean(string_or(*object, "note", "")));
    }
  }

  void on_exit() {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) != pid) return;
    pid = 0;
    if (words) (void)take();
    words.reset();
    exited.reset();
    if (!result) {
      result =
          fail(ErrorKind::transient,
               WIFEXITED(status)
                   ? fmt::format("trainward-courier ended with exit code {}", WEXITSTATUS(status))
                   : fmt::format("trainward-courier was ended by signal {}", WTERMSIG(status)));
    }
    finish(std::move(*result));
  }

  void finish(Result<std::string> what) {
    auto done = std::exchange(told.done, nullptr);
    if (done) done(std::move(what), result_words);
  }

  Loop& loop;
  Told told;
  std::string doing = told.doing;
  std::optional<Result<std::string>> result;
  std::string result_words;
  LineSplitter lines;
  pid_t pid = 0;
  Fd input;  // its end ends the process
  Fd output;
  Fd pidfd;
  std::optional<Watch> words;  // after what they watch
  std::optional<Watch> exited;
};

RestoreProcess::RestoreProcess(Loop& loop, const std::filesystem::path& courier,
                               const orders::Orders& orders, Told told)
    : impl_(std::make_shared<Impl>(loop, std::move(told))) {
  if (auto started = impl_->start(courier, orders); !started) {
    loop.post([weak = std::weak_ptr(impl_), error = started.error()] {
      if (auto self = weak.lock()) self->finish(tl::unexpected<Error>(error));
    });
  }
}

RestoreProcess::~RestoreProcess() = default;

std::string RestoreProcess::doing() const { return impl_->doing; }

}  // namespace trainward::daemon
