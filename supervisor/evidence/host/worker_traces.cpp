#include "supervisor/evidence/host/worker_traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/os/processes/host_files.hpp"
#include "common/os/processes/process_files.hpp"
#include "supervisor/decide/core/weight.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t most_remembered = 16 * 1024;
constexpr std::size_t most_threads = 1024;  // of one process
constexpr std::int64_t ten_minutes_ms = 10 * 60 * 1000;

// The first pid namespace has a fixed number (PROC_PID_INIT_INO).
bool in_first_pid_namespace(const std::filesystem::path& root) {
  std::error_code error;
  return std::filesystem::read_symlink(below(root, "/proc/self/ns/pid"), error) ==
         "pid:[4026531836]";
}

}  // namespace

WorkerTraces::WorkerTraces(std::filesystem::path root, std::string own_cgroup,
                           std::vector<std::string> bus_ids)
    : root_(std::move(root)),
      own_cgroup_(std::move(own_cgroup)),
      bus_ids_(std::move(bus_ids)),
      same_numbers_(in_first_pid_namespace(root_)),
      limit_(3, ten_minutes_ms) {}

void WorkerTraces::look(pid_t pid) {
  for (const pid_t process : process_tree(root_, pid)) {
    for (const pid_t thread : numbers_in(process_folder(root_, process) / "task", most_threads)) {
      if (processes_.size() >= most_remembered) return;
      processes_.insert(thread);
    }
    processes_.insert(process);
  }
}

bool WorkerTraces::has_process(pid_t pid) const {
  if (!same_numbers_) return false;
  if (processes_.contains(pid)) return true;
  // A thread begun since the last look: while it exists, the kernel tells whose it is.
  const auto status = read_some(process_folder(root_, pid) / "status", 4096);
  const auto process = status ? number_of_key(*status, "Tgid") : std::nullopt;
  return process && *process <= INT32_MAX && processes_.contains(static_cast<pid_t>(*process));
}

bool WorkerTraces::has_cgroup(const std::string& name) const {
  return own_cgroup_.size() > 1 && (name == own_cgroup_ || name.starts_with(own_cgroup_ + "/"));
}

int WorkerTraces::weight_of(const KernelFact& fact) const {
  if (fact.pid != 0 && has_process(fact.pid)) return fact.own;
  if (!fact.cgroup.empty() && has_cgroup(fact.cgroup)) return fact.own;
  const bool our_board = std::ranges::any_of(fact.bus_ids, [&](const std::string& id) {
    return std::ranges::find(bus_ids_, id) != bus_ids_.end();
  });
  if (our_board) return fact.own;
  const bool names_other =
      fact.pid != 0 || !fact.cgroup.empty() || (!fact.bus_ids.empty() && !bus_ids_.empty());
  return names_other ? fact.other : std::min(fact.own, core::weight::general);
}

std::optional<core::HostFact> WorkerTraces::weigh(const KernelFact& fact, Time now) {
  const int weight = weight_of(fact);
  if (weight <= 0) return std::nullopt;
  // Of their own kind, so that trouble in general does not use up the room of ours.
  const std::string kind = fmt::format("{}/{}", to_string(fact.cause), weight);
  if (!limit_.admit(kind, now.mono)) return std::nullopt;
  std::string text = fact.text;
  if (const std::int64_t held_back = limit_.take_held_back(kind); held_back > 0) {
    text += fmt::format(" ({} more of this kind before)", held_back);
  }
  return core::HostFact{"kernel log", weight, fact.cause, std::move(text)};
}

}  // namespace trainward::host
