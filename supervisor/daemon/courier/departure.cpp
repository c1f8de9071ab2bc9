#include "supervisor/daemon/courier/departure.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/os/clock.hpp"

namespace trainward::daemon {
namespace {

// Within a second, which is more than records: it takes digests, or brings something into form.
constexpr std::int64_t much_read_bytes = std::int64_t{1} << 20;
// However late it is: so long it takes to hear what there is.
constexpr std::int64_t least_ms = 1'000;

std::int64_t arrived(const orders::Left& left) {
  return std::accumulate(
      left.jobs.begin(), left.jobs.end(), std::int64_t{0},
      [](std::int64_t sum, const orders::Left::Job& job) { return sum + job.done; });
}

}  // namespace

void DepartureWait::heard(const orders::Left& left, MonoTime at) {
  const bool gets_on = !before_ || left.jobs.size() < before_->jobs.size() ||
                       arrived(left) > arrived(*before_) ||
                       left.read_bytes - before_->read_bytes >= much_read_bytes;
  before_ = left;
  if (gets_on) progressed_ = at;
}

Departure::Departure(Loop& loop, Courier& courier, Console& console, std::int64_t most_ms,
                     std::function<void(const std::vector<orders::Left::Job>&)> over)
    : courier_(courier),
      console_(console),
      over_(std::move(over)),
      wait_(now().mono, std::max(most_ms, least_ms)),
      left_{{"trainward-courier", 0, 0, ""}},
      timer_(loop) {
  courier_.leave([this](const orders::Left& left) { heard(left); });
  arm();
}

Departure::~Departure() { courier_.leave({}); }

void Departure::within(std::int64_t ms) {
  wait_.until(now().mono + std::max<std::int64_t>(ms, 0));
  arm();
}

void Departure::heard(const orders::Left& left) {
  const Time at = now();
  left_ = left.jobs;
  wait_.heard(left, at.mono);
  if (left_.empty()) return timer_.after(0, [this] { end(); });
  console_.waiting(orders::words_of(left_.front()), left_.size() - 1, at);
  arm();
}

void Departure::arm() {
  timer_.after(std::max<std::int64_t>(wait_.ends() - now().mono, 0), [this] {
    if (wait_.ends() > now().mono) return arm();
    end();
  });
}

void Departure::end() {
  if (!left_.empty() && left_.front().trouble.empty()) {
    left_.front().trouble = courier_.trouble();
  }
  over_(left_);
}

}  // namespace trainward::daemon
