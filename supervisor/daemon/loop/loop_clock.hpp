// The daemon's loop, as a session's clock.
#pragma once

#include <utility>

#include "common/os/clock.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/decide/session/ports.hpp"

namespace trainward::daemon {

class LoopClock final : public session::Clock {
 public:
  explicit LoopClock(Loop& loop) : loop_(loop), timer_(loop) {}

  [[nodiscard]] Time now() const override { return trainward::now(); }
  void soon(std::function<void()> work) override { loop_.post(std::move(work)); }
  void at(MonoTime when, std::function<void()> work) override {
    timer_.after(when - trainward::now().mono, std::move(work));
  }
  void cancel() override { timer_.cancel(); }

 private:
  Loop& loop_;
  Timer timer_;
};

}  // namespace trainward::daemon
