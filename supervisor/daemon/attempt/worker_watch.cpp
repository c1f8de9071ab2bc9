#include "supervisor/daemon/attempt/worker_watch.hpp"

#include "common/os/clock.hpp"
#include "common/os/processes/cgroup.hpp"
#include "common/os/processes/host_memory.hpp"
#include "supervisor/evidence/host/bus_id.hpp"
#include "supervisor/evidence/host/thread_report.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t sample_every_ms = 10'000;

std::int64_t bytes_in(const std::vector<std::filesystem::path>& folders) {
  constexpr int most_files = 100'000;  // a cache beyond that is growing or not, whatever its size
  constexpr int deepest = 32;          // each level costs a descriptor
  std::int64_t bytes = 0;
  int files = 0;
  for (const auto& folder : folders) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator entry(folder, error);
    for (const std::filesystem::recursive_directory_iterator end; !error && entry != end;
         entry.increment(error)) {
      if (++files > most_files) return bytes;
      if (entry.depth() >= deepest) entry.disable_recursion_pending();
      std::error_code vanished;
      const auto size = entry->file_size(vanished);
      if (!vanished) bytes += static_cast<std::int64_t>(size);
    }
  }
  return bytes;
}

std::vector<std::string> boards_of(const std::vector<std::string>& bus_ids) {
  std::vector<std::string> all;
  for (const std::string& bus_id : bus_ids) {
    for (std::string& one : host::with_ports_above("/", bus_id)) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

WorkerProcesses::WorkerProcesses(WatchedWorker worker)
    : worker_(std::move(worker)),
      meter_("/", worker_.shim),
      traces_("/", "", boards_of(worker_.bus_ids)) {
  traces_.look(worker_.shim);
}

std::optional<core::ActivitySeen> WorkerProcesses::activity() {
  std::optional<host::Usage> usage;
  {
    const std::lock_guard lock(mutex_);
    traces_.look(worker_.shim);
    usage = meter_.read();
  }
  if (!usage) return std::nullopt;
  return core::ActivitySeen{usage->cpu_ms, bytes_in(worker_.caches) + usage->written_bytes};
}

std::optional<core::MemorySample> WorkerProcesses::memory() {
  const std::lock_guard lock(mutex_);
  traces_.look(worker_.shim);
  const auto usage = meter_.read();
  const auto left = host::available_memory("/", host::cgroups_of("/", worker_.pid));
  if (!usage || !left) return std::nullopt;
  return core::MemorySample{usage->memory_bytes, left->bytes};
}

std::optional<core::HostFact> WorkerProcesses::weigh(const host::KernelFact& fact) {
  const std::lock_guard lock(mutex_);
  return traces_.weigh(fact, now());
}

WorkerWatch::WorkerWatch(Machine& machine, WatchedWorker worker,
                         std::function<void(core::HostFact)> sink)
    : machine_(machine),
      pid_(worker.pid),
      processes_(std::make_shared<WorkerProcesses>(std::move(worker))),
      sink_(std::move(sink)) {
  machine_.add(this);
}

WorkerWatch::~WorkerWatch() { machine_.remove(this); }

bool WorkerWatch::sample_due(MonoTime now) {
  if (now - sampled_at_ < sample_every_ms) return false;
  sampled_at_ = now;
  return true;
}

std::string WorkerWatch::thread_report() const { return host::thread_report("/", pid_); }

void WorkerWatch::kernel_said(const host::KernelFact& fact) {
  if (auto ours = processes_->weigh(fact)) sink_(std::move(*ours));
}

void WorkerWatch::machine_said(const core::HostFact& fact) { sink_(fact); }

}  // namespace trainward::daemon
