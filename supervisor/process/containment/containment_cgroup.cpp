#include "supervisor/process/containment/containment_cgroup.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "common/os/file.hpp"
#include "common/os/processes/host_files.hpp"
#include "supervisor/process/containment/memory_controller.hpp"
#include "supervisor/process/containment/proc.hpp"

namespace trainward::containment {
namespace {

bool is_folder(const std::filesystem::path& path) {
  struct stat info {};
  return !path.empty() && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// 0 where it does not say.
std::int64_t number_of(const std::filesystem::path& file, std::string_view key) {
  return host::number_of_key(read_proc(file), key).value_or(0);
}

bool gone(const std::filesystem::path& folder) {
  return folder.empty() || ::rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

}  // namespace

void Cgroup::make(std::filesystem::path& place, const std::filesystem::path& parent,
                  const std::string& name) {
  if (parent.empty()) return;
  const std::filesystem::path wanted = parent / name;
  if (::mkdir(wanted.c_str(), 0755) == 0 || errno == EEXIST) {
    place = wanted;
  } else {
    notes_.push_back("no group in " + parent.string() + ": " +
                     std::generic_category().message(errno));
  }
}

Cgroup Cgroup::create(const CgroupHost& host, const std::string& name,
                      std::optional<std::int64_t> memory_limit_bytes) {
  Cgroup group;
  if (!host.unified.empty() && host.memory.empty()) {
    if (auto on = enable_memory(host.unified); !on) group.notes_.push_back(on.error().message());
  }
  group.make(group.unified_, host.unified, name);
  group.own_memory_ = host.memory;
  if (memory_limit_bytes) group.make(group.memory_, host.memory, name);
  if (group.unified_.empty()) {
    group.make(group.systemd_, host.systemd, name);
    group.make(group.freezer_, host.freezer, name);
  } else {
    group.memory_in_unified_ = ::access((group.unified_ / "memory.max").c_str(), F_OK) == 0;
  }
  if (memory_limit_bytes) group.limit_memory(*memory_limit_bytes);
  return group;
}

Cgroup Cgroup::existing(const CgroupHost& host, const std::string& name) {
  Cgroup group;
  const auto find = [&](const std::filesystem::path& parent) {
    return !parent.empty() && is_folder(parent / name) ? parent / name : std::filesystem::path();
  };
  group.unified_ = find(host.unified);
  group.systemd_ = find(host.systemd);
  group.freezer_ = find(host.freezer);
  group.memory_ = find(host.memory);
  return group;
}

std::string Cgroup::kind() const {
  std::string text = !unified_.empty() ? "cgroup2" : tracks() ? "cgroup1" : "none";
  if (memory_in_unified_) text += "+memory";
  if (!memory_.empty()) text += "+memory1";
  return text;
}

void Cgroup::limit_memory(std::int64_t bytes) {
  Status set = fail(ErrorKind::permanent, "the memory controller is not available here");
  if (memory_in_unified_) set = write_control(unified_ / "memory.max", std::to_string(bytes));
  if (!memory_.empty()) {
    set = write_control(memory_ / "memory.limit_in_bytes", std::to_string(bytes));
  }
  if (!set) notes_.push_back("no memory limit: " + set.error().message());
}

Result<Fd> Cgroup::open_unified() const {
  if (unified_.empty()) return Fd();
  return open_file(unified_, O_RDONLY | O_DIRECTORY);
}

std::vector<Fd> Cgroup::open_join_files(bool unified) const {
  std::vector<Fd> files;
  for (const auto* folder : {&unified_, &systemd_, &freezer_, &memory_}) {
    if (folder->empty() || (folder == &unified_ && !unified)) continue;
    if (auto fd = open_regular(*folder / "cgroup.procs", O_WRONLY)) files.push_back(std::move(*fd));
  }
  return files;
}

std::vector<pid_t> Cgroup::processes() const {
  return tracks() ? host::processes_in(read_proc(tracker() / "cgroup.procs"))
                  : std::vector<pid_t>{};
}

bool Cgroup::empty() const {
  if (unified_.empty()) return processes().empty();
  return number_of(unified_ / "cgroup.events", "populated") == 0;
}

void Cgroup::kill() const {
  if (!unified_.empty() && write_control(unified_ / "cgroup.kill", "1")) return;
  kill_version_1();
}

// Frozen, a group cannot fork while its members get their signals; they die when it is thawed.
void Cgroup::kill_version_1() const {
  if (!freezer_.empty()) (void)write_control(freezer_ / "freezer.state", "FROZEN");
  for (const pid_t pid : processes()) ::kill(pid, SIGKILL);
  if (!freezer_.empty()) (void)write_control(freezer_ / "freezer.state", "THAWED");
}

std::int64_t Cgroup::oom_kills() const {
  if (memory_in_unified_) return number_of(unified_ / "memory.events", "oom_kill");
  const auto& folder = memory_.empty() ? own_memory_ : memory_;
  if (folder.empty()) return number_of("/proc/vmstat", "oom_kill");
  return number_of(folder / "memory.oom_control", "oom_kill");
}

std::string_view Cgroup::oom_scope() const {
  if (memory_in_unified_ || !memory_.empty()) return "worker";
  return own_memory_.empty() ? "host" : "group";
}

bool Cgroup::remove() const {
  bool all = true;
  for (const auto* folder : {&unified_, &systemd_, &freezer_, &memory_}) all &= gone(*folder);
  return all;
}

}  // namespace trainward::containment
