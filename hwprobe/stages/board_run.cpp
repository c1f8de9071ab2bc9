#include "hwprobe/stages/board_run.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"

namespace trainward::hwprobe {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds lock_pause{10};
constexpr milliseconds longest_pause{20};
constexpr std::size_t max_child_line_bytes = 64 * 1024;
// A stage of ours says some hundred lines; more is a body that has gone wrong.
constexpr std::size_t max_stage_bytes = 4 * 1024 * 1024;

std::int64_t ms(BoardRun::Instant from, BoardRun::Instant to) {
  return std::chrono::duration_cast<milliseconds>(to - from).count();
}

}  // namespace

BoardRun::BoardRun(std::string board, std::span<const Stage> stages,
                   std::filesystem::path state_folder, Processes& processes,
                   const RunLimits& limits, Instant now)
    : stages_(stages),
      state_folder_(std::move(state_folder)),
      processes_(processes),
      limits_(limits),
      phase_end_(now + limits.lock_wait),
      wake_(now),
      stage_begin_(now),
      lines_(max_child_line_bytes) {
  look_.board = std::move(board);
}

BoardRun::~BoardRun() {
  if (phase_ != Phase::running && phase_ != Phase::killed) return;
  processes_.kill(child_.pid);
  processes_.wait(child_.pid);
}

void BoardRun::turn(Instant now) {
  switch (phase_) {
    case Phase::locking:
      return take_lock(now);
    case Phase::earlier_child:
      return check_earlier_child(now);
    case Phase::running:
      return watch_running(now);
    case Phase::killed:
      return watch_killed(now);
    case Phase::done:
      return;
  }
}

void BoardRun::take_lock(Instant now) {
  auto state = BoardState::take(state_folder_, look_.board);
  if (!state) return finish(Ending::not_started, state.error().message(), now);
  if (!*state) {
    if (now >= phase_end_) {
      return finish(Ending::locked,
                    fmt::format("another probe has been looking at this board for more than {}",
                                human_duration(limits_.lock_wait.count())),
                    now);
    }
    wake_ = now + lock_pause;
    return;
  }
  state_ = std::move(*state);
  left_ = state_->left();
  if (!left_) return start_next(now);
  phase_ = Phase::earlier_child;
  phase_end_ = now + limits_.kill_grace;
  check_earlier_child(now);
}

// A probe that was killed takes its children along, but they may need a moment; one that has
// outlived a SIGKILL already gets none.
void BoardRun::check_earlier_child(Instant now) {
  if (!processes_.runs(left_->process)) {
    (void)state_->forget();
    return start_next(now);
  }
  if (!left_->killed && now < phase_end_) {
    wake_ = now + lock_pause;
    return;
  }
  left_->killed = true;
  (void)state_->remember(*left_);
  finish(Ending::stuck_in_kernel,
         fmt::format("process {}, started at {} for the stage '{}', hangs in the kernel; no other "
                     "is started on this board until it ends",
                     left_->process.pid, iso8601(left_->since_ms), left_->stage),
         now);
}

bool BoardRun::may_start(const Stage& stage) const {
  if (stage.when) return stage.when(look_.board, look_.stages);
  return std::all_of(look_.stages.begin(), look_.stages.end(),
                     [](const StageResult& before) { return before.ending == Ending::finished; });
}

void BoardRun::start_next(Instant now) {
  while (stage_ < stages_.size() && !may_start(stages_[stage_])) ++stage_;
  stage_begin_ = now;
  if (stage_ == stages_.size()) {
    phase_ = Phase::done;
    state_.reset();
    return;
  }
  const Stage& stage = stages_[stage_];
  auto child = start_child(stage, look_.board);
  if (!child) return finish(Ending::not_started, child.error().message(), now);
  child_ = std::move(*child);
  // Noted from the start: the one who would note it later may be killed before.
  left_ = LeftChild{{child_.pid, 0, ""}, stage.name, trainward::now().wall.ms, false};
  if (auto id = identify(child_.pid)) {
    left_->process = std::move(*id);
    (void)state_->remember(*left_);
  }
  phase_ = Phase::running;
  phase_end_ = now + stage.deadline;
  wake_ = phase_end_;
  pause_ = milliseconds(1);
  listening_ = true;
  bytes_ = 0;
  lines_ = LineSplitter(max_child_line_bytes);
  current_ = StageResult();
  current_.stage = stage.name;
}

void BoardRun::take_line(std::string_view line) {
  auto reading = parse_reading(line);
  if (!reading) return;
  if (reading->key == failure_key) {
    current_.detail = std::move(reading->value);
  } else {
    current_.readings.push_back(std::move(*reading));
  }
}

void BoardRun::listen() {
  std::array<char, 16384> buffer{};
  while (listening_) {
    const ssize_t got = ::read(child_.output.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      listening_ = false;
      child_.output.reset();
      return;
    }
    bytes_ += static_cast<std::size_t>(got);
    if (bytes_ > max_stage_bytes) return;
    lines_.feed(std::string_view(buffer.data(), static_cast<std::size_t>(got)),
                [this](std::string_view line, std::int64_t) { take_line(line); });
  }
}

void BoardRun::watch_running(Instant now) {
  // Asked before the pipe is read to its end: what an ended child has said is all there.
  const Waited waited = processes_.wait(child_.pid);
  listen();
  if (waited.state == Waited::State::ended) return end_stage(waited.status, now);
  if (waited.state == Waited::State::not_a_child) {
    return end_as(Ending::failed, "its exit status was collected elsewhere in this process", now);
  }
  if (bytes_ > max_stage_bytes) {
    return kill(Ending::failed, "said more than a stage may, " + human_bytes(max_stage_bytes), now);
  }
  if (now >= phase_end_) return kill(Ending::deadline, "", now);
  wake_ = phase_end_;
  if (!listening_) {  // it is about to end
    wake_ = std::min(phase_end_, now + pause_);
    pause_ = std::min(pause_ * 2, longest_pause);
  }
}

void BoardRun::kill(Ending ending, std::string detail, Instant now) {
  killed_as_ = ending;
  current_.detail = std::move(detail);
  processes_.kill(child_.pid);
  phase_ = Phase::killed;
  phase_end_ = now + limits_.kill_grace;
  pause_ = milliseconds(1);
  wake_ = now + pause_;
}

void BoardRun::watch_killed(Instant now) {
  const Waited waited = processes_.wait(child_.pid);
  if (killed_as_ == Ending::deadline) listen();
  // Not our child: other code reaps all children of this process, so it has ended.
  if (waited.state != Waited::State::running) {
    return end_as(killed_as_, std::move(current_.detail), now);
  }
  if (now >= phase_end_) {
    left_->killed = true;
    if (!left_->process.boot.empty()) (void)state_->remember(*left_);
    std::string detail =
        fmt::format("process {} hangs in the kernel and outlives SIGKILL", child_.pid);
    child_ = Child();
    look_.stages.push_back(result(Ending::stuck_in_kernel, std::move(detail), now));
    phase_ = Phase::done;
    state_.reset();
    return;
  }
  // The pipe need not be polled: what is in it is read with the next look at the child.
  wake_ = std::min(phase_end_, now + pause_);
  pause_ = std::min(pause_ * 2, longest_pause);
}

void BoardRun::end_stage(int status, Instant now) {
  Ending ending = Ending::failed;
  std::string detail = std::move(current_.detail);
  if (WIFSIGNALED(status)) {
    ending = WTERMSIG(status) == SIGBUS ? Ending::bus_error : Ending::crashed;
    detail =
        fmt::format("ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) == 0) {
    ending = Ending::finished;
  } else if (WEXITSTATUS(status) == exit_bus_error) {
    ending = Ending::bus_error;
  } else if (detail.empty()) {
    detail = fmt::format("ended with exit code {}", WEXITSTATUS(status));
  }
  end_as(ending, std::move(detail), now);
}

void BoardRun::end_as(Ending ending, std::string detail, Instant now) {
  look_.stages.push_back(result(ending, std::move(detail), now));
  child_ = Child();
  (void)state_->forget();
  ++stage_;
  start_next(now);
}

StageResult BoardRun::result(Ending ending, std::string detail, Instant now) {
  return {current_.stage, ending, std::move(detail), std::move(current_.readings),
          ms(stage_begin_, now)};
}

// Ends the look where no child could be started.
void BoardRun::finish(Ending ending, std::string detail, Instant now) {
  const std::string stage = stage_ < stages_.size() ? stages_[stage_].name : "";
  look_.stages.push_back({stage, ending, std::move(detail), {}, ms(stage_begin_, now)});
  phase_ = Phase::done;
  state_.reset();
}

}  // namespace trainward::hwprobe
