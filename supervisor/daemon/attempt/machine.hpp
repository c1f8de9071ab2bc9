// What the machine says while workers run: its kernel's log and its memory pressure, as facts for
// every program with a worker. Neither costs a wake-up while nothing is wrong.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/decide/core/event.hpp"
#include "supervisor/evidence/host/kernel_log.hpp"
#include "supervisor/evidence/host/pressure.hpp"

namespace trainward::daemon {

// Hears of everything; what concerns it is its own business.
class MachineListener {
 public:
  virtual ~MachineListener() = default;
  virtual void kernel_said(const host::KernelFact& fact) = 0;
  virtual void machine_said(const core::HostFact& fact) = 0;
};

class Machine {
 public:
  // What cannot be followed here (no permission, an old kernel) is logged once and left out.
  explicit Machine(Loop& loop);

  void add(MachineListener* listener);
  void remove(MachineListener* listener);

 private:
  void take_kernel_news();
  void take_pressure();
  Loop& loop_;
  std::optional<host::KernelLog> kernel_;
  std::optional<host::PressureWatch> pressure_;
  std::unique_ptr<Watch> kernel_watch_;  // after what they watch
  std::unique_ptr<Watch> pressure_watch_;
  std::vector<MachineListener*> listeners_;
};

}  // namespace trainward::daemon
