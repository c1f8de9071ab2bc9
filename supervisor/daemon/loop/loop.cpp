#include "supervisor/daemon/loop/loop.hpp"

#include <poll.h>
#include <spdlog/spdlog.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <utility>

namespace trainward::daemon {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

// Work that takes longer is worth a line in the log, once a minute.
constexpr std::int64_t long_us = 50'000;
constexpr std::int64_t say_every_ms = 60'000;

std::int64_t milliseconds(Clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

}  // namespace

struct Loop::Impl {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> keep{context.get_executor()};
  LoopLatency latency;
  std::int64_t said_ms = 0;
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() = default;
void Loop::run() { impl_->context.run(); }
void Loop::stop() { impl_->context.stop(); }
void Loop::post(std::function<void()> work) {
  asio::post(impl_->context, [this, due = Clock::now(), work = std::move(work)] {
    const Busy busy(*this, due);
    work();
  });
}
asio::io_context& Loop::context() { return impl_->context; }
LoopLatency::Figures Loop::latency() const {
  return impl_->latency.figures(milliseconds(Clock::now()));
}

Loop::Busy::~Busy() {
  const auto end = Clock::now();
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(end - due_).count();
  const std::int64_t at_ms = milliseconds(end);
  Impl& impl = *loop_.impl_;
  impl.latency.note(at_ms, us);
  if (us < long_us || (impl.said_ms != 0 && at_ms - impl.said_ms < say_every_ms)) return;
  impl.said_ms = at_ms;
  spdlog::debug("the loop was {} ms late", us / 1'000);
}

// Handlers hold a weak pointer: an operation that was already queued when its owner went away finds
// nobody and does nothing.
struct Timer::Impl : std::enable_shared_from_this<Timer::Impl> {
  explicit Impl(Loop& on) : loop(on), timer(on.context()) {}
  Loop& loop;
  asio::steady_timer timer;
  std::function<void()> work;
  std::uint64_t generation = 0;
};

Timer::Timer(Loop& loop) : impl_(std::make_shared<Impl>(loop)) {}
// A handler that is queued already finds another generation; the timer's own end cancels the rest.
Timer::~Timer() { ++impl_->generation; }

void Timer::cancel() {
  ++impl_->generation;
  impl_->timer.cancel();
}

void Timer::after(std::int64_t ms, std::function<void()> work) {
  cancel();
  impl_->work = std::move(work);
  impl_->timer.expires_after(std::chrono::milliseconds(ms < 0 ? 0 : ms));
  impl_->timer.async_wait([weak = std::weak_ptr(impl_),
                           generation = impl_->generation](const boost::system::error_code& error) {
    auto self = weak.lock();
    if (!self || error || self->generation != generation) return;
    const Loop::Busy busy(self->loop, self->timer.expiry());
    auto due = std::move(self->work);
    due();
  });
}

struct Watch::Impl : std::enable_shared_from_this<Watch::Impl> {
  Impl(Loop& on, int fd, std::function<void()> callback)
      : loop(on), descriptor(on.context(), fd), work(std::move(callback)) {}
  ~Impl() { descriptor.release(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Asio may report the readiness of a descriptor that was closed in the same turn and whose place
  // this one took. Readers do not mind; to take a living process for an ended one would be fatal.
  bool readable() {
    pollfd state{descriptor.native_handle(), POLLIN, 0};
    return ::poll(&state, 1, 0) > 0;
  }

  void wait() {
    descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                          [weak = weak_from_this()](const boost::system::error_code& error) {
                            auto self = weak.lock();
                            if (!self || error || !self->active) return;
                            if (self->readable()) {
                              const Loop::Busy busy(self->loop);
                              self->work();
                            }
                            if (self->active) self->wait();
                          });
  }

  Loop& loop;
  asio::posix::stream_descriptor descriptor;
  std::function<void()> work;
  bool active = true;
};

Watch::Watch(Loop& loop, int fd, std::function<void()> work)
    : impl_(std::make_shared<Impl>(loop, fd, std::move(work))) {
  impl_->wait();
}

Watch::~Watch() {
  impl_->active = false;
  boost::system::error_code ignored;
  impl_->descriptor.cancel(ignored);
  // Released now: the owner may close the descriptor before a running callback lets go of Impl.
  impl_->descriptor.release();
}

struct Signals::Impl : std::enable_shared_from_this<Signals::Impl> {
  Impl(Loop& loop, std::function<void(int)> callback)
      : set(loop.context()), work(std::move(callback)) {}

  void wait() {
    set.async_wait([weak = weak_from_this()](const boost::system::error_code& error, int number) {
      auto self = weak.lock();
      if (!self || error) return;
      self->work(number);
      self->wait();
    });
  }

  asio::signal_set set;
  std::function<void(int)> work;
};

Signals::Signals(Loop& loop, std::initializer_list<int> numbers, std::function<void(int)> work)
    : impl_(std::make_shared<Impl>(loop, std::move(work))) {
  for (const int number : numbers) impl_->set.add(number);
  impl_->wait();
}
Signals::~Signals() {
  boost::system::error_code ignored;
  impl_->set.cancel(ignored);
}

}  // namespace trainward::daemon
