#include "supervisor/daemon/lifetime.hpp"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/daemon/loop/own_limits.hpp"
#include "supervisor/daemon/loop/reaper.hpp"
#include "supervisor/daemon/service/inherited_sockets.hpp"
#include "supervisor/daemon/service/init_system.hpp"
#include "supervisor/daemon/service/status_words.hpp"

namespace trainward::daemon {
namespace {

constexpr int refused_start_s = 5;

constexpr std::initializer_list<int> handled_signals{SIGTERM, SIGINT,  SIGQUIT,
                                                     SIGHUP,  SIGUSR1, SIGUSR2};

sigset_t handled() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : handled_signals) ::sigaddset(&set, number);
  return set;
}

void notify(const std::string& text) { sd_notify(0, text.c_str()); }

Ended refuse(const Error& error) {
  std::fprintf(stderr, "trainwardd: %s\n", clean(error.message()).c_str());
  notify("STATUS=" + error.message());
  // systemd starts us again at once, which is right after a crash and useless here.
  if (service_unit()) {
    const sigset_t set = handled();
    const timespec patience{refused_start_s, 0};
    ::sigtimedwait(&set, nullptr, &patience);
  }
  return {.code = error.kind == ErrorKind::transient ? exit_code::try_again : exit_code::failed,
          .started = false};
}

// What a signal leads to.
class Ending {
 public:
  Ending(Loop& loop, Daemon& daemon, std::optional<InitSystem>& init, bool once)
      : loop_(loop), daemon_(daemon), init_(init), once_(once) {}

  void on_signal(int number) {
    if (number == SIGUSR2 || (number == SIGUSR1 && !once_)) {
      return spdlog::info(
          "SIG{} means nothing to this daemon; `trainwardctl --help` lists what does",
          ::sigabbrev_np(number));
    }
    const bool again = std::exchange(asked_, true) || daemon_.departing();
    if (!init_ || again) return stop_runs(again && number == SIGINT);
    init_->why_stopped([this](StopReason reason) {
      if (reason == StopReason::stop) return stop_runs(false);
      spdlog::info("leaving the workers to the next trainwardd{}",
                   reason == StopReason::restart  ? ": systemd restarts this service"
                   : reason == StopReason::nobody ? ": systemd asked for no stop"
                                                  : "");
      // Unless systemd is waiting for the end, this is not one: it starts us again.
      if (reason != StopReason::restart) code = exit_code::try_again;
      loop_.stop();
    });
  }

  void stop_runs(bool at_once) {
    notify(fmt::format("STOPPING=1\nSTATUS=workers save and exit\nEXTEND_TIMEOUT_USEC={}",
                       (daemon_.longest_stop_ms() + stop_margin_ms) * 1'000));
    daemon_.shut_down(at_once);
  }

  std::optional<int> code;

 private:
  Loop& loop_;
  Daemon& daemon_;
  std::optional<InitSystem>& init_;
  bool once_;
  bool asked_ = false;
};

// Tells the init system that the loop is well, for as long as it is, when somebody asked for it
// (WATCHDOG_USEC). Otherwise nothing is armed and nothing wakes up.
//
// "Well" means: a timer fired and work posted at that moment got its turn, so the loop turns and
// its queue drains. That is what a restart of the daemon can mend. Not part of it, on purpose:
//  - a run database that refuses to commit (full disk, lost mount): events are kept and tried
//    again, the API answers; a new daemon could not even start.
//  - a checkpoint that is verified for long, or whose file system hangs: the thread that reads it
//    may be stuck in the kernel, where a signal does not end it, and a daemon that cannot die keeps
//    its lock from the next one.
class Watchdog {
 public:
  // `interval_ms`: after how long a silence the init system acts; 0: nobody asks. `feed` is called
  // at once, then three times an interval.
  Watchdog(Loop& loop, std::int64_t interval_ms, std::function<void()> feed);

  // What the environment asks of this process.
  static std::int64_t interval_from_environment();

 private:
  void arm();
  Loop& loop_;
  std::int64_t period_ms_;
  std::function<void()> feed_;
  Timer timer_;
};

std::int64_t Watchdog::interval_from_environment() {
  std::uint64_t usec = 0;
  return sd_watchdog_enabled(0, &usec) > 0 ? static_cast<std::int64_t>(usec / 1'000) : 0;
}

Watchdog::Watchdog(Loop& loop, std::int64_t interval_ms, std::function<void()> feed)
    : loop_(loop),
      period_ms_(std::max<std::int64_t>(interval_ms / 3, 1)),
      feed_(std::move(feed)),
      timer_(loop) {
  if (interval_ms <= 0) return;
  feed_();
  arm();
}

void Watchdog::arm() {
  timer_.after(period_ms_, [this] {
    // Behind everything that waits: a queue that grows faster than it drains is no health. The
    // watchdog lives as long as its loop runs.
    loop_.post([this] {
      feed_();
      arm();
    });
  });
}

}  // namespace

void block_signals(bool blocked) {
  const sigset_t set = handled();
  ::sigprocmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, nullptr);
}

void become(const std::filesystem::path& image, char** argv, const KeptSockets& kept) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}\nSTATUS=restarting",
                     now.tv_sec * 1'000'000LL + now.tv_nsec / 1'000));
  const InheritedSockets sockets = inherited_sockets();
  // Made here, so that nothing else that this process starts ever sees it.
  std::string variable = as_variable(kept);
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  if (!variable.empty()) environment.push_back(variable.data());
  environment.push_back(nullptr);
  hand_on(sockets, true);
  hand_on(kept, true);
  restore_limits();
  ::execve(image.c_str(), argv, environment.data());
  const int reason = errno;
  raise_descriptor_limit();
  leave_no_core();
  hand_on(kept, false);
  hand_on(sockets, false);
  errno = reason;
}

Ended live(const Options& options, config::Config config) {
  Loop loop;
  const Reaper reaper(loop);
  Options mine = options;
  std::optional<InitSystem> init;
  // With --once the caller is a job scheduler or a person: SIGTERM always means to save and end.
  if (const auto unit = options.once ? std::nullopt : service_unit()) {
    init.emplace(loop, *unit, program_folder());
    mine.stop_service = [&init](std::function<void()> otherwise) {
      init->stop_service(std::move(otherwise));
    };
  }
  const std::size_t programs = config.programs.size();
  mine.tell_status = [](const std::string& words) { notify("STATUS=" + words); };
  auto made = Daemon::make(loop, std::move(mine), std::move(config));
  if (!made) return refuse(made.error());
  Daemon& daemon = **made;
  Ending ending(loop, daemon, init, options.once);
  // SIGHUP as well: a closed terminal must let the workers save.
  const Signals signals(loop, handled_signals, [&ending](int number) { ending.on_signal(number); });
  block_signals(false);
  if (auto started = daemon.start(); !started) {
    block_signals(true);
    return refuse(started.error());
  }
  if (init) init->try_scope();
  notify("READY=1\nSTATUS=" + status_words(programs, {}));
  const Watchdog watchdog(loop, Watchdog::interval_from_environment(),
                          [] { notify("WATCHDOG=1"); });
  loop.run();
  const bool reexec = daemon.wants_reexec();
  if (reexec) {
    block_signals(true);
    daemon.keep_sockets();
  }
  // A daemon that leaves unasked is not stopping: systemd is to start it again.
  if (!reexec && !ending.code) notify("STOPPING=1");
  const int code = ending.code.value_or(daemon.exit_code());
  if (!reexec) return {code};
  if (daemon.wants_successor()) return {code, true, options.executable};
  auto image = same_program(options.executable);
  if (image != options.executable) {
    spdlog::info("another program lies at {} by now; `trainwardctl upgrade` tries it and takes it",
                 options.executable.string());
  }
  return {code, true, std::move(image)};
}

}  // namespace trainward::daemon
