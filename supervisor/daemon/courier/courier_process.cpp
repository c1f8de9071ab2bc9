#include "supervisor/daemon/courier/courier_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/line_splitter.hpp"
#include "common/base/text.hpp"
#include "common/os/fd.hpp"
#include "common/os/pipe.hpp"
#include "supervisor/daemon/loop/spawn.hpp"
#include "supervisor/orders/orders.hpp"

namespace trainward::daemon {
namespace {

constexpr std::size_t max_line_bytes = 2 * 1024;
constexpr std::size_t max_answer_bytes = 256 * 1024;
constexpr std::size_t gulp_bytes = 16 * 1024;

// All of the orders lie in the pipe before anybody reads it, so that writing them waits for nobody.
Result<Pipe> pipe_with(const std::string& orders) {
  auto pipe = make_pipe();
  if (!pipe) return propagate(pipe);
  const std::string line = orders + "\n";
  const int fd = pipe->write.get();
  if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return fail_errno(errno, "prepare a pipe");
  if (line.size() > 4096 && ::fcntl(fd, F_SETPIPE_SZ, static_cast<int>(line.size())) < 0) {
    return fail_errno(errno, "make a pipe large enough for the courier's orders");
  }
  const ssize_t put = ::write(fd, line.data(), line.size());
  if (put != static_cast<ssize_t>(line.size())) {
    return fail_errno(put < 0 ? errno : EAGAIN, "hand the courier its orders");
  }
  return pipe;
}

}  // namespace

struct CourierProcess::Impl : std::enable_shared_from_this<Impl> {
  Impl(Loop& loop_in, Settings settings_in)
      : loop(loop_in),
        settings(std::move(settings_in)),
        start_timer(loop_in),
        life_timer(loop_in),
        poke_timer(loop_in),
        answers(max_answer_bytes),
        said(max_line_bytes) {}

  template <typename Work>
  auto guarded(Work work) {
    return [weak = weak_from_this(), work] {
      if (auto self = weak.lock()) work(*self);
    };
  }

  // ---- what is asked of it ----

  void give(const std::string& next) {
    if (next == orders) return;
    orders = next;
    failures = 0;
    trouble.clear();
    if (pid != 0) return ask_to_end();
    if (orders.empty()) return start_timer.cancel();
    start_timer.after(0, guarded([](Impl& self) { self.begin(); }));
  }

  void poke() {
    if (pid == 0 || std::exchange(poke_due, true)) return;
    poke_timer.after(settings.between_pokes_ms, guarded([](Impl& self) { self.poke_now(); }));
  }

  void leave(std::function<void(const orders::Left&)> heard) {
    on_left = std::move(heard);
    tell_to_leave();
  }

  void tell_to_leave() {
    if (!on_left || !input) return;
    const std::string line = std::string(orders::leave_word) + "\n";
    // If pokes fill the pipe, it is not reading, and the waiting code sees that.
    (void)!::write(input.get(), line.data(), line.size());
  }

  void poke_now() {
    poke_due = false;
    if (!input) return;
    // A pipe that is full holds pokes enough.
    (void)!::write(input.get(), "\n", 1);
    poke_timer.after(settings.poke_at_least_ms, guarded([](Impl& self) { self.poke_now(); }));
  }

  // ---- its life ----

  void begin() {
    if (pid != 0 || orders.empty()) return;
    if (auto started = start(); !started) return failed(started.error().message());
    life_timer.after(settings.silence_ms, guarded([](Impl& self) { self.on_silence(); }));
    began = last_sign = std::chrono::steady_clock::now();
    tell_to_leave();
    poke_now();
  }

  Status start() {
    if (orders.size() >= orders::most_order_bytes) {
      return fail(ErrorKind::permanent,
                  fmt::format("its orders have {} bytes, more than a pipe holds", orders.size()),
                  settings.program.string(), "name fewer channels and targets");
    }
    if (::access(settings.program.c_str(), F_OK) != 0) {
      return fail(ErrorKind::permanent, "is not there", settings.program.string(),
                  "`scripts/build release trainward-courier` makes it; the bundle has it");
    }
    auto in = pipe_with(orders);
    if (!in) return propagate(in);
    auto out = make_polled_pipe();
    if (!out) return propagate(out);
    auto err = make_polled_pipe();
    if (!err) return propagate(err);
    // In a group of its own: a Ctrl-C is for the daemon, which still needs it.
    auto spawned = spawn({settings.program.string()},
                         {in->read.get(), out->write.get(), err->write.get()}, std::nullopt, true);
    if (!spawned) return propagate(spawned);
    auto child = open_child(*spawned);
    if (!child) {
      ::kill(*spawned, SIGKILL);
      ::waitpid(*spawned, nullptr, 0);
      return propagate(child);
    }
    pid = *spawned;
    ending = false;
    poke_due = false;
    pidfd.reset(*child);
    input = std::move(in->write);
    output = std::move(out->read);
    error = std::move(err->read);
    answers = LineSplitter(max_answer_bytes);
    said = LineSplitter(max_line_bytes);
    signs.emplace(loop, output.get(), guarded([](Impl& self) { self.on_sign(); }));
    words.emplace(loop, error.get(), guarded([](Impl& self) {
                    if (!self.on_words()) self.words.reset();
                  }));
    exited.emplace(loop, pidfd.get(), guarded([](Impl& self) { self.on_exit(); }));
    return {};
  }

  void on_sign() {
    std::array<char, gulp_bytes> chunk{};
    const ssize_t got = ::read(output.get(), chunk.data(), chunk.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return signs.reset();
    if (ending) return;
    trouble.clear();
    last_sign = std::chrono::steady_clock::now();
    life_timer.after(settings.silence_ms, guarded([](Impl& self) { self.on_silence(); }));
    answers.feed(std::string_view(chunk.data(), static_cast<std::size_t>(got)),
                 [this](std::string_view line, std::int64_t) {
                   const auto left = on_left ? orders::left_from(line) : std::nullopt;
                   if (left) on_left(*left);
                 });
  }

  // False: nothing more will come, or nothing more has.
  bool on_words() {
    std::array<char, gulp_bytes> chunk{};
    const ssize_t got = ::read(error.get(), chunk.data(), chunk.size());
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    if (got == 0) return false;
    said.feed(std::string_view(chunk.data(), static_cast<std::size_t>(got)),
              [&](std::string_view line, std::int64_t) { log(line); });
    return true;
  }

  // "W text": how much it matters stands before it.
  void log(std::string_view line) {
    auto level = spdlog::level::warn;
    if (line.size() > 2 && line[1] == ' ') {
      if (line[0] == 'I' || line[0] == 'D') level = spdlog::level::info;
      if (line[0] == 'E' || line[0] == 'C') level = spdlog::level::err;
      if (std::string_view("TDIWEC").find(line[0]) != std::string_view::npos) line.remove_prefix(2);
    }
    const std::string text = clean(line);
    spdlog::log(level, "courier: {}", text);
    if (level != spdlog::level::info) last_words = text;
  }

  void on_silence() {
    why_killed = fmt::format("gave no sign of life for {}", human_duration(settings.silence_ms));
    ::kill(pid, SIGKILL);
  }

  void ask_to_end() {
    if (std::exchange(ending, true)) return;
    input.reset();
    poke_timer.cancel();
    life_timer.after(settings.end_ms, guarded([](Impl& self) {
                       if (self.pid != 0) ::kill(self.pid, SIGKILL);
                     }));
  }

  // The daemon goes. One that hangs would keep the next courier out for as long as it lives.
  void say_farewell() {
    exited.reset();
    signs.reset();
    words.reset();
    input.reset();
    if (pid == 0) return;
    pollfd ended{pidfd.get(), POLLIN, 0};
    if (::poll(&ended, 1, static_cast<int>(settings.farewell_ms)) <= 0) ::kill(pid, SIGKILL);
    // Otherwise the reaper collects it.
    ::waitpid(pid, nullptr, WNOHANG);
    pid = 0;
  }

  void on_exit() {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == 0) return;
    pid = 0;
    // What it said last is in the pipe, which holds no more than this.
    for (int gulp = 0; gulp < 4 && words && on_words(); ++gulp) {
    }
    exited.reset();
    signs.reset();
    words.reset();
    input.reset();
    life_timer.cancel();
    poke_timer.cancel();
    if (orders.empty()) return;
    if (ending) return begin();
    // One that did its work until then begins with the shortest pause again: what is to be told
    // does not wait for it. One that hung has not.
    const std::int64_t worked =
        std::chrono::duration_cast<std::chrono::milliseconds>(last_sign - began).count();
    if (worked >= std::max(settings.worked_ms, pause_ms)) failures = 0;
    std::string why = std::exchange(why_killed, {});
    if (why.empty()) {
      why = WIFEXITED(status) ? fmt::format("ended with exit code {}", WEXITSTATUS(status))
                              : fmt::format("was ended by signal {}", WTERMSIG(status));
    }
    const std::string words_then = std::exchange(last_words, {});
    failed(fmt::format("{} {}{}", settings.program.filename().string(), why,
                       words_then.empty() ? "" : ": " + words_then));
  }

  void failed(const std::string& why) {
    pause_ms =
        std::min(settings.longest_pause_ms, settings.first_pause_ms << std::min(failures, 20));
    ++failures;
    std::string now = fmt::format("nothing is delivered: {}; it is started again every {} at most",
                                  why, human_duration(settings.longest_pause_ms));
    if (now != std::exchange(told, now)) spdlog::warn("{}", now);
    trouble = std::move(now);
    start_timer.after(pause_ms, guarded([](Impl& self) { self.begin(); }));
  }

  Loop& loop;
  Settings settings;
  std::string orders;
  std::string trouble;
  std::string told;        // of it in the log, so that it stands there once
  std::string why_killed;  // by us
  std::string last_words;
  int failures = 0;           // since it last worked for long
  std::int64_t pause_ms = 0;  // the last one
  std::chrono::steady_clock::time_point began;
  std::chrono::steady_clock::time_point last_sign;
  Timer start_timer;
  Timer life_timer;  // its silence, or its end
  Timer poke_timer;
  LineSplitter answers;
  LineSplitter said;
  std::function<void(const orders::Left&)> on_left;
  pid_t pid = 0;
  bool ending = false;
  bool poke_due = false;
  Fd input;
  Fd output;
  Fd error;
  Fd pidfd;
  std::optional<Watch> signs;  // after what they watch
  std::optional<Watch> words;
  std::optional<Watch> exited;
};

CourierProcess::CourierProcess(Loop& loop, Settings settings)
    : impl_(std::make_shared<Impl>(loop, std::move(settings))) {}

CourierProcess::~CourierProcess() { impl_->say_farewell(); }

void CourierProcess::give(const std::string& orders) { impl_->give(orders); }
void CourierProcess::poke() { impl_->poke(); }
void CourierProcess::leave(std::function<void(const orders::Left&)> heard) {
  impl_->leave(std::move(heard));
}
std::string CourierProcess::trouble() const { return impl_->trouble; }

}  // namespace trainward::daemon
