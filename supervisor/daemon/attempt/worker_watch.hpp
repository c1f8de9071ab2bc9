// One worker's processes as the machine sees them: what they use, what the kernel says about them,
// and what they wait for when they hang.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/daemon/attempt/machine.hpp"
#include "supervisor/decide/core/event.hpp"
#include "supervisor/evidence/host/process_usage.hpp"
#include "supervisor/evidence/host/worker_traces.hpp"

namespace trainward::daemon {

struct WatchedWorker {
  pid_t pid = 0;
  pid_t shim = 0;                             // adopts and waits for the worker's orphans
  std::vector<std::string> bus_ids;           // of its boards
  std::vector<std::filesystem::path> caches;  // what it compiles goes there
};

// Its processes; on any thread. Shared, because a look that hangs outlives its caller.
class WorkerProcesses {
 public:
  explicit WorkerProcesses(WatchedWorker worker);

  // Nothing when the worker is gone.
  std::optional<core::ActivitySeen> activity();
  std::optional<core::MemorySample> memory();
  // What a fact of the kernel's log means for them.
  std::optional<core::HostFact> weigh(const host::KernelFact& fact);

 private:
  WatchedWorker worker_;
  std::mutex mutex_;
  host::UsageMeter meter_;     // guarded by mutex_
  host::WorkerTraces traces_;  // guarded by mutex_
};

class WorkerWatch final : public MachineListener {
 public:
  // `sink` is called on the loop.
  WorkerWatch(Machine& machine, WatchedWorker worker, std::function<void(core::HostFact)> sink);
  ~WorkerWatch() override;
  WorkerWatch(const WorkerWatch&) = delete;
  WorkerWatch& operator=(const WorkerWatch&) = delete;

  [[nodiscard]] std::shared_ptr<WorkerProcesses> processes() const { return processes_; }

  // Whether a memory sample is due: at most one in ten seconds.
  bool sample_due(MonoTime now);

  [[nodiscard]] std::string thread_report() const;

  // ---- MachineListener ----
  void kernel_said(const host::KernelFact& fact) override;
  void machine_said(const core::HostFact& fact) override;

 private:
  Machine& machine_;
  pid_t pid_;
  std::shared_ptr<WorkerProcesses> processes_;
  std::function<void(core::HostFact)> sink_;
  MonoTime sampled_at_;
};

}  // namespace trainward::daemon
