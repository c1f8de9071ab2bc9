#include "supervisor/host/thread_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "common/base/text.hpp"
#include "common/os/host_files.hpp"
#include "common/os/process_files.hpp"
#include "supervisor/host/thread_state.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t most_looked_at = 1024;
constexpr std::size_t most_asked = 64;
constexpr std::size_t longest_report = 2000;

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
