#include "supervisor/process/shim/shim_attempt.hpp"

#include <malloc.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <utility>

#include "common/os/clock.hpp"

namespace trainward::shim {
namespace {

// So long after the last event memory is given back, once.
constexpr int quiet_after_ms = 50;
constexpr int messages_a_turn = 256;
constexpr std::size_t most_sockets = 4;
constexpr int look_again_ms = 5;  // at a disk that is behind
// Messages that were left out are told of so long after the first, and then so often.
constexpr std::int64_t first_count_ms = 1'000;
constexpr std::int64_t next_count_ms = 10'000;
// Who outlives the first process by less ends with it. Looked for as often: most ends are told, but
// not those of processes whose parent is somebody else's child.
constexpr std::int64_t at_once_ms = 100;
// The signal that ended the first process was meant for all of them, or for it alone. Who tells
// everybody tells this process too, within this time.
constexpr std::int64_t told_within_ms = 1'000;

std::int64_t milliseconds(const timeval& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_usec / 1000;
}

bool readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return fd >= 0 && ::poll(&one, 1, 0) > 0;
}

// systemd that stops the attempt's scope tells every process in it, the worker too, and so does
// systemd-shutdown at the end.
bool tells_everybody(const std::string& sender) { return sender.starts_with("systemd"); }

// Empty: the kernel, or somebody in another pid namespace.
std::string name_of(std::uint32_t sender) {
  return sender == 0 ? "" : containment::describe(static_cast<pid_t>(sender)).name;
}

std::vector<containment::Survivor> described(const std::vector<pid_t>& pids) {
  std::vector<containment::Survivor> processes;
  processes.reserve(pids.size());
  for (const pid_t pid : pids) processes.push_back(containment::describe(pid));
  return processes;
}

}  // namespace

Attempt::Attempt(const LaunchSpec& spec, DiskWriter& disk, AttemptPlace& place,
                 const MessageSocket& socket, int signals, WorkerProcess worker,
                 const containment::Cgroup& cgroup)
    : disk_(disk),
      place_(place),
      user_(spec.user),
      socket_(socket),
      signals_(signals),
      worker_(std::move(worker)),
      cgroup_(cgroup),
      keep_([&disk](const Message& message, Time at, std::int64_t stands_for) {
        disk.message(message, at, stands_for);
      }),
      output_(std::move(worker_.standard_output), Stream::output, disk),
      error_(std::move(worker_.standard_error), Stream::error, disk),
      kill_wait_ms_(spec.kill_wait_ms),
      oom_kills_before_(cgroup.oom_kills()),
      stop_(worker_.pid, spec.stop_signal) {}

void Attempt::run() {
  while (!ended_) wait();
  if (stop_.concerns(ended_->status)) wait_for_the_others();
  finish();
}

bool Attempt::ended_in_order() const {
  if (!ended_ || !WIFEXITED(ended_->status)) return false;
  const int code = WEXITSTATUS(ended_->status);
  return code == exit_code::done || code == exit_code::try_again;
}

// Without a limit of its own: the requester of the stop also decides how long it may take.
void Attempt::wait_for_the_others() {
  const MonoTime began = now().mono;
  bool told = false;
  for (;;) {
    const std::vector<pid_t> left = stop_.unfinished(ended_->status);
    if (left.empty() || killed_) break;
    const std::int64_t waited = now().mono - began;
    if (!told && waited >= at_once_ms) {
      told = true;
      JsonText fields;
      fields.add_json("processes", survivors_json(described(left)));
      disk_.record("outlived", std::move(fields), now(), true);
    }
    if (!stop_.asked() && waited >= told_within_ms) stop_.ask(false);
    look_at_ = now().mono + at_once_ms;
    while (now().mono < look_at_ && !killed_) wait();
  }
  if (told) ended_->at = now();
}

int Attempt::wait_ms() const {
  int wait = -1;
  const auto sooner = [&](std::int64_t ms) {
    if (ms >= 0 && (wait < 0 || ms < wait)) wait = static_cast<int>(ms);
  };
  sooner(output_.wait_ms());
  sooner(error_.wait_ms());
  sooner(pace_.wait_ms());
  if (pace_.left_out() != told_left_out_ && tell_at_ != MonoTime{}) {
    sooner(std::max<std::int64_t>(tell_at_ - now().mono, 0));
  }
  if (!quiet_) sooner(quiet_after_ms);
  if (kill_deadline_) sooner(std::max<std::int64_t>(*kill_deadline_ - now().mono, 0));
  if (ended_) sooner(std::max<std::int64_t>(look_at_ - now().mono, 0));
  return wait;
}

void Attempt::wait() {
  const bool room = disk_.takes_messages(now().mono);
  std::array<pollfd, 5 + most_sockets> watched{{{signals_, POLLIN, 0},
                                                {room ? socket_.fd() : -1, POLLIN, 0},
                                                {output_.poll_fd(), POLLIN, 0},
                                                {error_.poll_fd(), POLLIN, 0},
                                                {place_.fd(), POLLIN, 0}}};
  for (std::size_t i = 0; i < most_sockets; ++i) {
    const bool there = room && i < more_sockets_.size();
    watched[5 + i] = {there ? more_sockets_[i]->fd() : -1, POLLIN, 0};
  }
  const int limit = room ? wait_ms() : look_again_ms;
  const int happened = ::poll(watched.data(), watched.size(), limit);
  if (happened < 0) return;
  if (happened == 0 && limit == quiet_after_ms) {
    disk_.shrink();
    ::malloc_trim(0);
    quiet_ = true;
  }
  if (happened > 0) quiet_ = false;
  // Heartbeats first; logs can wait in their pipes.
  if (std::any_of(watched.begin() + 5, watched.end(),
                  [](const pollfd& one) { return one.revents != 0; }) ||
      watched[1].revents != 0) {
    take_messages(false);
  }
  if (watched[4].revents != 0) look_for_place();
  const Time time = now();
  if (room) pace_.look(time.mono, keep_);
  tell_left_out(time, false);
  const std::int64_t at = time.mono.ms;
  if (watched[2].revents != 0 || output_.wait_ms() >= 0) output_.pump(at);
  if (watched[3].revents != 0 || error_.wait_ms() >= 0) error_.pump(at);
  if (watched[0].revents != 0) take_signals();
  if (kill_deadline_ && !ended_) look_for_unkillable();
}

void Attempt::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_, &info, sizeof(info)) == sizeof(info)) {
    switch (info.ssi_signo) {
      case SIGTERM:
      case SIGINT: {
        const std::string sender = name_of(info.ssi_pid);
        if (!stop_.asked()) asked_by_ = sender;
        stop_.ask(tells_everybody(sender));
        break;
      }
      case SIGUSR1:
        ::kill(worker_.pid, SIGUSR1);
        break;
      case SIGUSR2:
        kill();
        break;
      case SIGCHLD:
        reap();
        break;
      default:
        break;
    }
  }
}

void Attempt::kill() {
  if (!killed_ && stop_.asked()) cut_off_ = described(containment::group_members(worker_.pid));
  killed_ = true;
  kill_tree(cgroup_, worker_.pid);
  if (!kill_deadline_) kill_deadline_ = now().mono + kill_wait_ms_;
}

// As subreaper the shim also inherits the worker's orphans.
void Attempt::reap() {
  Ended one;
  for (pid_t pid = 0; (pid = ::wait4(-1, &one.status, WNOHANG, &one.usage)) > 0;) {
    look_at_ = {};
    if (pid != worker_.pid) continue;
    one.at = now();
    ended_ = one;
  }
}

void Attempt::look_for_unkillable() {
  if (now().mono < *kill_deadline_) return;
  kill_deadline_.reset();
  const auto survivors = described(tree(cgroup_));
  if (!survivors.empty()) record_unkillable(survivors);
}

// What is written into a folder that is no more is seen by nobody.
void Attempt::look_for_place() {
  auto made = place_.look();
  if (made && !*made) return;
  if (!made) {
    std::fprintf(stderr,
                 "trainward-shim: the attempt's folder is gone and cannot be recreated: %s; the "
                 "worker trains on\n",
                 made.error().message().c_str());
    return;
  }
  std::fputs("trainward-shim: somebody has removed the attempt's folder; it was recreated\n",
             stderr);
  auto socket = MessageSocket::open(*made, user_);
  disk_.move_to(std::move(*made));
  if (!socket) {
    std::fprintf(stderr, "trainward-shim: %s\n", socket.error().message().c_str());
    return;
  }
  if (more_sockets_.size() == most_sockets) more_sockets_.erase(more_sockets_.begin());
  more_sockets_.push_back(std::make_unique<MessageSocket>(std::move(*socket)));
}

void Attempt::take_messages(bool last) {
  take_messages(socket_, last);
  for (const auto& socket : more_sockets_) take_messages(*socket, last);
}

void Attempt::take_messages(const MessageSocket& socket, bool last) {
  // Bounded a turn for the same reason as the logs; a burst is taken over several turns.
  for (int turn = 0; turn < messages_a_turn; ++turn) {
    if (!last && !disk_.takes_messages(now().mono)) return;
    auto message = socket.receive();
    if (!message) return;
    if (!message->empty()) pace_.offer(std::move(*message), now(), keep_);
  }
}

void Attempt::tell_left_out(Time at, bool last) {
  if (pace_.left_out() == told_left_out_) return;
  if (tell_at_ == MonoTime{}) tell_at_ = at.mono + first_count_ms;
  if (!last && at.mono < tell_at_) return;
  tell_at_ = at.mono + next_count_ms;
  told_left_out_ = pace_.left_out();
  JsonText fields;
  fields.add("messages", told_left_out_)
      .add("since_wall_ms", pace_.left_out_since().wall.ms)
      .add("last", last);
  disk_.record("thinned", std::move(fields), at, false);
}

// What is in a pipe, but not until its end: a process the kernel will not let die may hold it open.
void Attempt::drain(LogIntake& intake) {
  while (intake.open()) {
    const bool more = intake.pump(now().mono.ms);
    if (intake.open() && intake.wait_ms() >= 0 && !more) ::poll(nullptr, 0, intake.wait_ms());
    if (intake.wait_ms() < 0 && !readable(intake.poll_fd())) return;
  }
}

void Attempt::finish() {
  const Swept swept = sweep(cgroup_, worker_.pid, signals_, kill_wait_ms_);
  take_messages(true);
  pace_.finish(keep_);
  tell_left_out(now(), true);
  drain(output_);
  drain(error_);
  disk_.drain_logs();
  record_exit(swept);
  if (!swept.survivors.empty()) {
    record_unkillable(swept.survivors);
    wait_for_unkillable();
  }
}

void Attempt::record_exit(const Swept& swept) {
  JsonText fields;
  if (WIFSIGNALED(ended_->status)) {
    fields.add("signal", WTERMSIG(ended_->status));
    fields.add("core_dumped", static_cast<bool>(WCOREDUMP(ended_->status)));
  } else {
    fields.add("code", WEXITSTATUS(ended_->status)).add("core_dumped", false);
  }
  fields.add("user_ms", milliseconds(ended_->usage.ru_utime))
      .add("system_ms", milliseconds(ended_->usage.ru_stime))
      .add("max_rss_bytes", std::int64_t{ended_->usage.ru_maxrss} * 1024)
      .add("oom_kills", cgroup_.oom_kills() - oom_kills_before_)
      .add("oom_scope", cgroup_.oom_scope())
      .add("asked_to_stop", stop_.asked())
      .add("asked_by", asked_by_)
      .add("helpers_killed", swept.killed);
  if (!cut_off_.empty()) fields.add_json("cut_off", survivors_json(cut_off_));
  disk_.record("exited", std::move(fields), ended_->at, true);
}

void Attempt::record_unkillable(const std::vector<containment::Survivor>& survivors) {
  JsonText fields;
  fields.add_json("processes", survivors_json(survivors));
  disk_.record("unkillable", std::move(fields), now(), true);
}

// The leases stay held for as long as something of this attempt may use the board.
void Attempt::wait_for_unkillable() {
  while (!sweep(cgroup_, worker_.pid, signals_, 200).survivors.empty()) {
  }
  disk_.record("gone", JsonText(), now(), true);
}

}  // namespace trainward::shim
