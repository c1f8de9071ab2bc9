#include "supervisor/daemon/attempt/machine.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/os/clock.hpp"

namespace trainward::daemon {

Machine::Machine(Loop& loop) : loop_(loop) {
  if (auto log = host::KernelLog::open("/")) {
    kernel_.emplace(std::move(*log));
    kernel_watch_ = std::make_unique<Watch>(loop, kernel_->fd(), [this] { take_kernel_news(); });
  } else {
    spdlog::info("the kernel's log is not followed: {}", log.error().message());
  }
  if (auto pressure = host::PressureWatch::open(host::pressure_file("/", {}))) {
    pressure_.emplace(std::move(*pressure));
    pressure_watch_ = std::make_unique<Watch>(loop, pressure_->fd(), [this] { take_pressure(); });
  } else {
    spdlog::info("memory pressure is not followed: {}", pressure.error().message());
  }
}

void Machine::add(MachineListener* listener) { listeners_.push_back(listener); }
void Machine::remove(MachineListener* listener) { std::erase(listeners_, listener); }

void Machine::take_kernel_news() {
  const host::KernelNews news = kernel_->take();
  for (const host::KernelFact& fact : news.facts) {
    for (MachineListener* listener : listeners_) listener->kernel_said(fact);
  }
  if (news.more) loop_.post([this] { take_kernel_news(); });
}

void Machine::take_pressure() {
  const auto fact = pressure_->take(now());
  if (!fact) return;
  for (MachineListener* listener : listeners_) listener->machine_said(*fact);
}

}  // namespace trainward::daemon
