#include "supervisor/evidence/host/thread_report.hpp"

#include <fmt/format.h>
#include <seccomp.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "common/base/text.hpp"
#include "common/os/processes/host_files.hpp"
#include "common/os/processes/process_files.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t most_looked_at = 1024;
constexpr std::size_t most_asked = 64;
constexpr std::size_t longest_report = 2000;
constexpr std::size_t stack_frames = 3;
constexpr std::size_t longest_function = 64;

// ---- one thread ----

struct ThreadState {
  pid_t process = 0;
  pid_t thread = 0;
  std::string name;  // chosen by itself
  char state = '?';
};

// Waits for something and cannot be killed meanwhile.
inline bool is_stuck(const ThreadState& thread) { return thread.state == 'D'; }

std::string_view in_words(char state) {
  switch (state) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "D, uninterruptible,";
    case 'Z':
      return "dead (zombie)";
    case 'X':
      return "dead";
    case 'T':
      return "stopped by a signal";
    case 't':
      return "stopped by a debugger";
    case 'I':
      return "idle";
    default:
      return "in an unknown state";
  }
}

std::filesystem::path folder_of(const std::filesystem::path& root, const ThreadState& thread) {
  return process_folder(root, thread.process) / "task" / std::to_string(thread.thread);
}

// Lines of "[<0>] function+0x12/0x34", the innermost first.
std::string stack_of(const std::filesystem::path& folder) {
  const auto text = read_some(folder / "stack", 4096);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  std::string frames;
  for (std::size_t i = 0; i < stack_frames && !rest.empty(); ++i) {
    std::string_view line = take_line(rest);
    take_word(line);
    std::string_view function = take_word(line);
    function = function.substr(0, function.find('+'));
    if (function.empty()) break;
    frames += (i == 0 ? "" : " < ") + printable(function, longest_function);
  }
  return frames;
}

std::string place_of(const std::filesystem::path& folder) {
  std::string place = stack_of(folder);
  return place.empty() ? waits_in(folder) : place;
}

// "futex", "ioctl", …; "system call 123" for one without a name here. The number is this machine's.
std::string syscall_name(std::int64_t number) {
  const std::unique_ptr<char, void (*)(void*)> name(
      ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, static_cast<int>(number)), std::free);
  return name ? name.get() : fmt::format("system call {}", number);
}

// "202 0x7f… …" while it is in a system call, else "running" or "-1 …".
std::string call_of(const std::filesystem::path& folder) {
  const auto text = read_some(folder / "syscall", 512);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  const auto number = whole_number(take_word(rest));
  return number ? syscall_name(*number) : std::string();
}

// All threads of a process, its main thread first; at most `most`. Empty when it is gone.
std::vector<ThreadState> threads_of(const std::filesystem::path& root, pid_t process,
                                    std::size_t most) {
  std::vector<ThreadState> threads;
  std::vector<pid_t> numbers = numbers_in(process_folder(root, process) / "task", most);
  // The main thread first, and also where its folder was not among the first.
  std::erase(numbers, process);
  numbers.insert(numbers.begin(), process);
  for (const pid_t number : numbers) {
    if (threads.size() >= most) break;
    const auto stat = read_thread_stat(root, process, number);
    if (stat) threads.push_back({process, number, stat->name, stat->state});
  }
  return threads;
}

// "sleeping in futex_wait_queue (futex)", "D, uninterruptible, in a < b < c (ioctl)", "running"
std::string doing(const std::filesystem::path& root, const ThreadState& thread) {
  std::string text(in_words(thread.state));
  if (thread.state != 'S' && thread.state != 'D') return text;
  const auto folder = folder_of(root, thread);
  const std::string place = place_of(folder);
  const std::string call = call_of(folder);
  if (!place.empty()) text += " in " + place;
  if (!call.empty()) text += fmt::format(" ({})", call);
  if (place.empty() && call.empty()) text += " somewhere in the kernel";
  return text;
}

// ---- all of them ----

std::string cut(std::string text) {
  constexpr std::string_view mark = "...";
  if (text.size() > longest_report) {
    text.resize(longest_report - mark.size());
    text += mark;
  }
  return text;
}

std::string named(pid_t process, std::string_view name) {
  return fmt::format("process {} ({})", process, name);
}

// Stuck ones first, then main threads, then the others.
std::vector<ThreadState> all_threads(const std::filesystem::path& root, pid_t pid) {
  std::vector<ThreadState> threads;
  for (const pid_t process : process_tree(root, pid)) {
    if (threads.size() >= most_looked_at) break;
    auto more = threads_of(root, process, most_looked_at - threads.size());
    threads.insert(threads.end(), more.begin(), more.end());
  }
  const auto rank = [](const ThreadState& thread) {
    return is_stuck(thread) ? 0 : thread.thread == thread.process ? 1 : 2;
  };
  std::ranges::stable_sort(threads, {}, rank);
  return threads;
}

// Threads of one process that do the same, as one.
struct Group {
  std::string doing;
  ThreadState first;
  std::int64_t threads = 0;
};

std::string in_words(const Group& group) {
  if (group.threads > 1) return fmt::format("{} threads {}", group.threads, group.doing);
  if (group.first.thread == group.first.process) return "main thread " + group.doing;
  return fmt::format("thread {} ({}) {}", group.first.thread, group.first.name, group.doing);
}

struct Process {
  pid_t pid = 0;
  std::string name;
  std::vector<Group> groups;
};

void add(std::vector<Process>& processes, const ThreadState& thread, std::string what) {
  auto process = std::ranges::find(processes, thread.process, &Process::pid);
  if (process == processes.end()) {
    processes.push_back({thread.process, thread.name, {}});
    process = processes.end() - 1;
  }
  const bool main = thread.thread == thread.process;
  if (main) process->name = thread.name;
  const auto same = std::ranges::find_if(process->groups, [&](const Group& group) {
    return !main && group.doing == what && group.first.thread != group.first.process;
  });
  if (same != process->groups.end()) {
    ++same->threads;
  } else {
    process->groups.push_back({std::move(what), thread, 1});
  }
}

}  // namespace

std::string thread_report(const std::filesystem::path& root, pid_t pid) {
  const std::vector<ThreadState> threads = all_threads(root, pid);
  std::vector<Process> processes;
  for (std::size_t i = 0; i < std::min(threads.size(), most_asked); ++i) {
    add(processes, threads[i], doing(root, threads[i]));
  }
  std::string report;
  for (const Process& process : processes) {
    report += (report.empty() ? "" : ". ") + named(process.pid, process.name);
    const char* before = ": ";
    for (const Group& group : process.groups) {
      report += before + in_words(group);
      before = "; ";
    }
  }
  if (threads.size() > most_asked) {
    report +=
        fmt::format(". {} not asked",
                    count(static_cast<std::int64_t>(threads.size() - most_asked), "more thread"));
  }
  return cut(std::move(report));
}

}  // namespace trainward::host
