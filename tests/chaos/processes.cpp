#include "processes.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

#include "common/os/processes/process_files.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/process/containment/proc.hpp"

namespace trainward::chaos {
namespace {

std::string proc(pid_t pid, const char* file) {
  return containment::read_proc("/proc/" + std::to_string(pid) + "/" + file);
}

template <typename Number>
Number number(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Process look(pid_t pid) {
  Process process;
  process.pid = pid;
  const auto stat = host::read_stat("/", pid);
  if (!stat) return process;
  process.name = stat->name;
  process.state = stat->state;
  process.parent = stat->parent;
  return process;
}

// A shim is told of its attempt's folder (…/runs/NAME/attempts/0001), a worker by its environment.
std::string program_of(const Process& process) {
  if (process.name != names::shim) {
    return std::string(containment::variable(proc(process.pid, "environ"), env::run));
  }
  const std::string command = proc(process.pid, "cmdline");
  const auto begin = command.find('\0');
  if (begin == std::string::npos) return "";
  const std::filesystem::path folder(
      command.substr(begin + 1, command.find('\0', begin + 1) - begin - 1));
  return folder.parent_path().parent_path().filename().string();
}

}  // namespace

std::vector<Process> descendants() {
  std::map<pid_t, Process> all;
  for (const pid_t pid : containment::all_processes()) all[pid] = look(pid);
  std::vector<Process> ours;
  for (const auto& [pid, process] : all) {
    pid_t up = process.parent;
    while (up > 1 && up != ::getpid()) {
      const auto parent = all.find(up);
      up = parent == all.end() ? 0 : parent->second.parent;
    }
    if (up != ::getpid()) continue;
    ours.push_back(process);
    ours.back().program = program_of(process);
  }
  return ours;
}

std::vector<Process> named(const std::vector<Process>& all, std::string_view name) {
  std::vector<Process> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [name](const Process& one) { return one.name == name && one.state != 'Z'; });
  return found;
}

std::vector<Process> workers(const std::vector<Process>& all) {
  std::vector<Process> found = named(all, names::worker);
  const std::vector<Process> before = found;
  std::erase_if(found, [&](const Process& one) {
    return std::any_of(before.begin(), before.end(),
                       [&](const Process& other) { return other.pid == one.parent; });
  });
  return found;
}

std::int64_t memory_kib(pid_t pid, std::string_view key) {
  const std::string status = proc(pid, "status");
  const auto at = status.find("\n" + std::string(key) + ":");
  if (at == std::string::npos) return 0;
  const auto digit = status.find_first_of("0123456789", at);
  return digit == std::string::npos ? 0
                                    : number<std::int64_t>(std::string_view(status).substr(digit));
}

std::int64_t open_descriptors(pid_t pid) {
  std::error_code error;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator entry("/proc/" + std::to_string(pid) + "/fd", error),
       end;
       !error && entry != end; entry.increment(error)) {
    ++count;
  }
  return count;
}

std::int64_t kept_waiting_ms(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/schedstat", pid));
  std::int64_t on_processor_ns = 0;
  std::int64_t waiting_ns = 0;
  file >> on_processor_ns >> waiting_ns;
  return waiting_ns / 1'000'000;
}

}  // namespace trainward::chaos
