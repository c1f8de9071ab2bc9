#include "supervisor/evidence/host/process_usage.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/os/processes/host_files.hpp"
#include "common/os/processes/process_files.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t stat_bytes = 64 * 1024;

std::int64_t ms_of_ticks(std::int64_t ticks) {
  const std::int64_t per_second = std::max<std::int64_t>(::sysconf(_SC_CLK_TCK), 1);
  std::int64_t scaled = 0;
  return __builtin_mul_overflow(ticks, std::int64_t{1000}, &scaled) ? INT64_MAX
                                                                    : scaled / per_second;
}

std::optional<std::int64_t> sum_of_keys(const std::filesystem::path& file,
                                        std::initializer_list<std::string_view> keys) {
  const auto text = read_some(file, stat_bytes);
  if (!text) return std::nullopt;
  std::optional<std::int64_t> sum;
  for (const std::string_view key : keys) {
    if (const auto value = number_of_key(*text, key)) sum = add_up(sum.value_or(0), *value);
  }
  return sum;
}

std::optional<std::int64_t> cpu_ms_of(const Cgroups& own) {
  if (!own.unified.folder.empty()) {
    if (const auto us = sum_of_keys(own.unified.folder / "cpu.stat", {"usage_usec"})) {
      return *us / 1000;
    }
  }
  if (own.cpu_time.folder.empty()) return std::nullopt;
  const auto ns = read_whole_number(own.cpu_time.folder / "cpuacct.usage");
  return ns ? std::optional(*ns / 1'000'000) : std::nullopt;
}

std::optional<std::int64_t> memory_of(const Cgroups& own) {
  if (!own.unified.folder.empty()) {
    const auto sum =
        sum_of_keys(own.unified.folder / "memory.stat", {"anon", "shmem", "slab_unreclaimable"});
    if (sum) {
      return add_up(*sum,
                    read_whole_number(own.unified.folder / "memory.swap.current").value_or(0));
    }
  }
  if (own.memory.folder.empty()) return std::nullopt;
  return sum_of_keys(own.memory.folder / "memory.stat", {"total_rss", "total_shmem", "total_swap"});
}

std::vector<pid_t> members_of(const Cgroups& own) {
  std::vector<pid_t> members;
  for (const Cgroup* cgroup : {&own.unified, &own.memory, &own.cpu_time}) {
    if (cgroup->folder.empty() || !members.empty()) continue;
    const auto text = read_some(cgroup->folder / "cgroup.procs", stat_bytes);
    if (text) members = processes_in(*text);
  }
  members.resize(std::min(members.size(), most_processes));
  return members;
}

}  // namespace

std::optional<Usage> usage_of_tree(const std::filesystem::path& root, pid_t pid) {
  Usage usage;
  std::int64_t ticks = 0;
  for (const pid_t member : process_tree(root, pid)) {
    const auto stat = read_stat(root, member);
    if (!stat) continue;
    ticks = add_up(ticks, add_up(stat->own_ticks, stat->children_ticks));
    usage.memory_bytes = add_up(usage.memory_bytes, private_memory(root, member));
    usage.written_bytes = add_up(usage.written_bytes, written_bytes(root, member));
    ++usage.processes;
  }
  if (usage.processes == 0) return std::nullopt;
  usage.cpu_ms = ms_of_ticks(ticks);
  return usage;
}

std::optional<Usage> usage_of_cgroup(const std::filesystem::path& root, const Cgroups& own) {
  const auto cpu_ms = cpu_ms_of(own);
  if (!cpu_ms) return std::nullopt;
  const std::vector<pid_t> members = members_of(own);
  Usage usage{*cpu_ms, 0, static_cast<std::int64_t>(members.size())};
  if (const auto memory = memory_of(own)) {
    usage.memory_bytes = *memory;
  } else {
    // The memory controller is not switched on here: its processes know.
    for (const pid_t member : members) {
      usage.memory_bytes = add_up(usage.memory_bytes, private_memory(root, member));
    }
  }
  return usage;
}

UsageMeter::UsageMeter(std::filesystem::path root, pid_t pid, std::optional<Cgroups> own)
    : root_(std::move(root)), pid_(pid), own_(std::move(own)) {
  if (const auto stat = read_stat(root_, pid_)) start_ticks_ = stat->start_ticks;
}

std::optional<Usage> UsageMeter::read() {
  const auto stat = read_stat(root_, pid_);
  if (!stat || stat->start_ticks != start_ticks_) return std::nullopt;
  auto usage = own_ ? usage_of_cgroup(root_, *own_) : std::nullopt;
  if (!usage) {
    own_.reset();  // for good: the two ways count from different beginnings
    usage = usage_of_tree(root_, pid_);
  }
  if (!usage) return std::nullopt;
  if (usage->cpu_ms < last_ms_) lost_ms_ = add_up(lost_ms_, last_ms_ - usage->cpu_ms);
  last_ms_ = usage->cpu_ms;
  usage->cpu_ms = add_up(usage->cpu_ms, lost_ms_);
  return usage;
}

}  // namespace trainward::host
