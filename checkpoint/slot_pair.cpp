#include "checkpoint/slot_pair.hpp"

#include <algorithm>
#include <ctime>
#include <system_error>
#include <utility>

namespace trainward::checkpoint {
namespace {

std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

SlotPair::SlotPair(std::array<StateSlot, 2> slots) : slots_(std::move(slots)) {
  const auto first = newest();
  if (!first.empty() && first.front() == slots_.data()) next_ = 1;
}

SlotPair::~SlotPair() { (void)wait(); }

std::vector<StateSlot*> SlotPair::newest() {
  std::vector<StateSlot*> found;
  std::int64_t step = -1;
  for (StateSlot& slot : slots_) {
    const auto claim = slot.claim();
    if (!claim) continue;
    found.insert(claim->step > step ? found.begin() : found.end(), &slot);
    step = std::max(step, claim->step);
  }
  return found;
}

std::vector<const StateSlot*> SlotPair::incomplete() const {
  std::vector<const StateSlot*> found;
  for (const StateSlot& slot : slots_) {
    if (slot.allocated() > 0 && !slot.claim()) found.push_back(&slot);
  }
  return found;
}

std::uint64_t SlotPair::allocated() const { return slots_[0].allocated() + slots_[1].allocated(); }

void SlotPair::clear() {
  (void)wait();
  for (StateSlot& slot : slots_) slot.clear();
}

void SlotPair::reserve(Contents contents) {
  copying_ = false;
  start([this, contents = std::move(contents)]() -> Outcome {
    Status done = slots_[next_].reserve(contents);
    if (done) done = slots_[1 - next_].reserve(contents);
    return {-1, std::move(done), {}};
  });
}

bool SlotPair::begin(Contents contents) {
  if (begun_) return false;
  copying_ = true;
  start([this, contents = std::move(contents)]() -> Outcome {
    const auto before = processor_time();
    Status done = slots_[next_].write(contents);
    if (done) next_ = 1 - next_;
    return {contents.state.step, std::move(done), processor_time() - before};
  });
  return true;
}

void SlotPair::start(std::function<Outcome()> job) {
  begun_ = true;
  {
    const std::lock_guard lock(mutex_);
    job_ = std::move(job);
  }
  if (thread_.joinable()) return changed_.notify_all();
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  } catch (const std::system_error& error) {
    const std::lock_guard lock(mutex_);
    job_ = {};
    outcome_ =
        Outcome{-1,
                fail(ErrorKind::transient, fmt::format("cannot start a thread: {}", error.what()),
                     {}, "raise the limit on processes (ulimit -u)"),
                {}};
  }
}

void SlotPair::serve(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return static_cast<bool>(job_); })) {
    const auto job = std::exchange(job_, {});
    lock.unlock();
    Outcome outcome = job();
    lock.lock();
    outcome_ = std::move(outcome);
    changed_.notify_all();
  }
}

std::optional<SlotPair::Outcome> SlotPair::wait() {
  if (!begun_) return std::nullopt;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return outcome_.has_value(); });
  begun_ = false;
  return std::exchange(outcome_, std::nullopt);
}

std::optional<SlotPair::Outcome> SlotPair::take() {
  if (!begun_) return std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    if (!outcome_) return std::nullopt;
  }
  return wait();
}

}  // namespace trainward::checkpoint
