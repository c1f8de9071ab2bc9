#include "supervisor/host/thread_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/os/host_files.hpp"
#include "common/os/process_files.hpp"
#include "supervisor/host/syscall_name.hpp"

namespace trainward::host {
namespace {

constexpr std::size_t stack_frames = 3;
constexpr std::size_t longest_function = 64;

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

// "202 0x7f… …" while it is in a system call, else "running" or "-1 …".
std::string call_of(const std::filesystem::path& folder) {
  const auto text = read_some(folder / "syscall", 512);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  const auto number = whole_number(take_word(rest));
  return number ? syscall_name(*number) : std::string();
}

}  // namespace

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

}  // namespace trainward::host
