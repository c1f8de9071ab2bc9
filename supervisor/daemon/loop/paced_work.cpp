#include "supervisor/daemon/loop/paced_work.hpp"

#include <algorithm>
#include <utility>

#include "common/os/clock.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t least_pause_ms = 200;
constexpr std::int64_t pause_factor = 4;

}  // namespace

PacedWork::PacedWork(Loop& loop, InBackground in_background, BackgroundJob job)
    : loop_(loop),
      in_background_(std::move(in_background)),
      job_(std::move(job)),
      pause_(loop),
      later_(loop) {}

PacedWork::~PacedWork() { *alive_ = false; }

void PacedWork::ask() {
  if (std::exchange(wanted_, true) || running_) return;
  const std::int64_t wait_ms = not_before_ - now().mono;
  if (wait_ms > 0) return pause_.after(wait_ms, [this] { begin(); });
  begin();
}

void PacedWork::ask_after(std::int64_t ms) {
  later_.after(ms, [this] { ask(); });
}

void PacedWork::begin() {
  wanted_ = false;
  running_ = true;
  in_background_([this, alive = alive_, job = job_]() -> std::function<void()> {
    const MonoTime begun = now().mono;
    auto result = job();
    const std::int64_t took_ms = now().mono - begun;
    return [this, alive, took_ms, result = std::move(result)] {
      if (!*alive) return;
      running_ = false;
      not_before_ = now().mono + std::max(least_pause_ms, pause_factor * took_ms);
      const bool again = std::exchange(wanted_, false);
      if (result) result();
      if (!*alive) return;
      if (again) ask();
    };
  });
}

}  // namespace trainward::daemon
