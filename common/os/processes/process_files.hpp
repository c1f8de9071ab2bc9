// What the kernel says of processes and threads, from /proc below a root folder.
//
// Only files that the kernel fills without taking the process's memory lock are read: `cmdline`,
// `maps` and `smaps_rollup` wait for it, and a hung worker may hold it for ever.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::host {

constexpr std::size_t most_processes = 4096;

struct ProcessStat {
  std::string name;  // at most 15 bytes, chosen by the process itself
  char state = '?';  // R running, S sleeping, D uninterruptible, Z zombie, T stopped, …
  pid_t parent = 0;
  pid_t group = 0;                  // its process group
  std::int64_t own_ticks = 0;       // user + system, of all its threads
  std::int64_t children_ticks = 0;  // of the children it has waited for, and theirs
  std::int64_t start_ticks = 0;     // since boot; with the pid it says who the process is

  // Dead, but for being waited for.
  [[nodiscard]] bool ended() const { return state == 'Z' || state == 'X'; }
};

// The text of a stat file; nothing when it is cut short or has no numbers where they belong.
std::optional<ProcessStat> parse_stat(std::string_view text);
std::optional<ProcessStat> read_stat(const std::filesystem::path& root, pid_t pid);
std::optional<ProcessStat> read_thread_stat(const std::filesystem::path& root, pid_t pid,
                                            pid_t thread);

// The process and everything below it, the root first, at most most_processes; empty when there is
// no such process. Processes that start or end meanwhile may be missed.
std::vector<pid_t> process_tree(const std::filesystem::path& root, pid_t pid);

// Its own children, zombies included. Empty where this kernel does not publish them, too.
std::vector<pid_t> children_of(const std::filesystem::path& root, pid_t pid);

// The kernel function that the process or thread of this folder sleeps in; empty when it does not,
// or that is not for us to know.
std::string waits_in(const std::filesystem::path& folder);

// Memory that is gone until the process gives it back: anonymous, shared and swapped out, but not
// its mapped files, which the kernel drops by itself.
std::int64_t private_memory(const std::filesystem::path& root, pid_t pid);

// What it has handed to the kernel to write, pipes and sockets included; 0 where that is not for us
// to know.
std::int64_t written_bytes(const std::filesystem::path& root, pid_t pid);

std::filesystem::path process_folder(const std::filesystem::path& root, pid_t pid);

}  // namespace trainward::host
