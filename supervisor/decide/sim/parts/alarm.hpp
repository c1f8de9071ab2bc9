// A clock of the simulated daemon, with one thing to be done at its time.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "supervisor/decide/session/ports.hpp"
#include "supervisor/decide/sim/parts/sim_machine.hpp"

namespace trainward::sim {

class Alarm final : public session::Clock {
 public:
  using Posts = std::vector<std::function<void()>>;
  // `due`: what the machine's queue calls it.
  Alarm(Machine& machine, Posts& posts, Due due) : m_(machine), posts_(posts), due_(due) {}

  [[nodiscard]] Time now() const override { return m_.now(); }
  void soon(std::function<void()> work) override { posts_.push_back(std::move(work)); }
  void at(MonoTime when, std::function<void()> work) override {
    at_ = when;
    work_ = std::move(work);
    arm();
  }
  void cancel() override { work_ = nullptr; }

  void on_due() {
    if (queued_true_ms_ != m_.clock.true_ms) return;
    queued_true_ms_ = 0;
    if (!work_) return;
    if (m_.now().mono < at_) return arm();
    std::exchange(work_, nullptr)();
  }

 private:
  // One that is queued for an earlier time looks again then.
  void arm() {
    const std::int64_t at = std::max(at_.ms + m_.clock.boot_true_ms, m_.clock.true_ms + 1);
    if (queued_true_ms_ != 0 && queued_true_ms_ <= at) return;
    queued_true_ms_ = at;
    m_.queue.add(at, due_);
  }

  Machine& m_;
  Posts& posts_;
  Due due_;
  MonoTime at_;
  std::function<void()> work_;
  std::int64_t queued_true_ms_ = 0;  // 0: not
};

}  // namespace trainward::sim
