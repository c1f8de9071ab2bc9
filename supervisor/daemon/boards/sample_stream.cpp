#include "supervisor/daemon/boards/sample_stream.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "common/base/line_splitter.hpp"
#include "common/base/text.hpp"
#include "common/os/clock.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/os/pipe.hpp"
#include "common/os/processes/process_id.hpp"
#include "hwprobe/stages/board_state.hpp"
#include "supervisor/daemon/loop/spawn.hpp"

namespace trainward::daemon {
namespace {

constexpr std::size_t max_line_bytes = 4 * 1024;
constexpr std::size_t gulp_bytes = 16 * 1024;
constexpr int most_gulps = 64;

}  // namespace

struct SampleStream::Impl : std::enable_shared_from_this<Impl> {
  Impl(Loop& loop_in, hwprobe::Processes& processes_in, Settings settings_in, Listener listener_in)
      : loop(loop_in),
        processes(processes_in),
        settings(std::move(settings_in)),
        listener(std::move(listener_in)),
        timer(loop_in),
        lines(max_line_bytes) {}
  ~Impl() {
    exited.reset();
    readable.reset();
    if (pid == 0) return;
    processes.kill(pid);
    processes.wait(pid);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // `work` as long as this lives.
  template <typename Work>
  auto guarded(Work work) {
    return [weak = weak_from_this(), work] {
      if (auto self = weak.lock()) work(*self);
    };
  }
  void later(std::int64_t ms, void (Impl::*work)()) {
    timer.after(ms, guarded([work](Impl& self) { (self.*work)(); }));
  }
  void tell(bool is_stuck, std::string text) {
    if (listener.trouble) listener.trouble({is_stuck, std::move(text)});
  }

  // ---- what an earlier daemon had to leave behind ----

  // True: it still hangs.
  bool left_hangs() {
    if (!memory) {
      auto taken = make_folders(settings.memory);
      auto state = taken ? hwprobe::BoardState::take(settings.memory, settings.name)
                         : Result<std::optional<hwprobe::BoardState>>(propagate(taken));
      if (!state || !*state) return false;  // without a memory, then
      memory = std::move(*state);
    }
    const auto left = memory->left();
    if (!left) return false;
    if (processes.runs(left->process)) return true;
    (void)memory->forget();
    return false;
  }
  void remember() {
    auto id = identify(pid);
    if (!memory || !id) return;
    (void)memory->remember({std::move(*id), "stream", now().wall.ms, true});
  }

  // ---- its life ----

  void begin() {
    if (left_hangs()) {
      if (!std::exchange(told_of_left, true)) {
        tell(
            true,
            "an earlier helper still hangs in the kernel; none is started beside it until it ends");
      }
      return later(settings.pause_ms, &Impl::begin);
    }
    told_of_left = false;
    if (auto started = start(); !started) {
      if (!std::exchange(told_of_start, true)) {
        spdlog::warn("{} is not watched: {}", settings.name, started.error().message());
      }
      return later(settings.pause_ms, &Impl::begin);
    }
    told_of_start = false;
    later(settings.silence_ms, &Impl::on_silence);
  }

  Status start() {
    auto pipe = make_polled_pipe();
    if (!pipe) return propagate(pipe);
    output = std::move(pipe->read);
    auto null = open_file("/dev/null", O_RDWR);
    if (!null) return propagate(null);
    auto spawned = spawn(settings.argv, {null->get(), pipe->write.get(), null->get()});
    if (!spawned) return propagate(spawned);
    pid = *spawned;
    killed = false;
    lines = LineSplitter(max_line_bytes);
    auto fd = open_child(pid);
    if (!fd) {
      processes.kill(pid);
      processes.wait(pid);
      pid = 0;
      return propagate(fd);
    }
    pidfd.reset(*fd);
    readable.emplace(loop, output.get(), guarded([](Impl& self) { (void)self.on_output(); }));
    exited.emplace(loop, pidfd.get(), guarded([](Impl& self) { self.on_end(); }));
    return {};
  }

  // False: there is no more for now.
  bool on_output() {
    std::array<char, gulp_bytes> chunk{};
    const ssize_t got = ::read(output.get(), chunk.data(), chunk.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (got <= 0) {
      readable.reset();
      return false;
    }
    if (killed) return true;  // said before its end, and too late
    bool said = false;
    lines.feed(std::string_view(chunk.data(), static_cast<std::size_t>(got)),
               [&](std::string_view line, std::int64_t) {
                 said = true;
                 if (!closed) listener.line(line);
               });
    if (said && !closed) later(settings.silence_ms, &Impl::on_silence);
    return true;
  }

  void on_silence() {
    killed = true;
    processes.kill(pid);
    later(settings.kill_grace_ms, &Impl::on_grace_over);
    tell(false, fmt::format("gave no sample for {}: a read of it hangs in the kernel",
                            human_duration(settings.silence_ms)));
  }

  void on_grace_over() {
    if (processes.wait(pid).state != hwprobe::Waited::State::running) return ended();
    remember();
    later(settings.pause_ms, &Impl::look_again);
    tell(true, fmt::format(
                   "process {}, which read its sensors, hangs in the kernel and outlives SIGKILL; "
                   "it is not watched until that process ends",
                   pid));
  }

  void look_again() {
    if (processes.wait(pid).state != hwprobe::Waited::State::running) return ended();
    later(settings.pause_ms, &Impl::look_again);
  }

  // The pidfd stays readable until the process is reaped.
  void on_end() {
    if (processes.wait(pid).state == hwprobe::Waited::State::running) return exited.reset();
    // Its last words are in the pipe, which holds no more than this.
    for (int gulp = 0; gulp < most_gulps && !closed && on_output(); ++gulp) {
    }
    ended();
  }

  void ended() {
    pid = 0;
    exited.reset();
    readable.reset();
    pidfd.reset();
    output.reset();
    if (memory) (void)memory->forget();
    if (closed) return;
    later(settings.pause_ms, &Impl::begin);
  }

  Loop& loop;
  hwprobe::Processes& processes;
  Settings settings;
  Listener listener;
  Timer timer;
  LineSplitter lines;
  std::optional<hwprobe::BoardState> memory;
  pid_t pid = 0;
  bool killed = false;
  bool closed = false;  // the reader is gone
  bool told_of_left = false;
  bool told_of_start = false;
  Fd output;
  Fd pidfd;
  std::optional<Watch> readable;  // after what they watch
  std::optional<Watch> exited;
};

SampleStream::SampleStream(Loop& loop, hwprobe::Processes& processes, Settings settings,
                           Listener listener)
    : impl_(std::make_shared<Impl>(loop, processes, std::move(settings), std::move(listener))) {
  // Not at once: the owner is still being made, and would be told of what went wrong.
  impl_->later(0, &Impl::begin);
}

SampleStream::~SampleStream() {
  impl_->closed = true;
  impl_->timer.cancel();
}

}  // namespace trainward::daemon
