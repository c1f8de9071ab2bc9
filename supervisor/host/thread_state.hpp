// What one thread is doing, or waiting for, as far as the kernel tells us.
//
// Everybody sees the state; where it waits takes the rights to trace the process (the same user);
// the kernel's stack takes root. Nothing here takes the process's memory lock, which a hung one may
// hold; only a process that is at this instant replacing its program (exec) is waited for.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::host {

struct ThreadState {
  pid_t process = 0;
  pid_t thread = 0;
  std::string name;  // chosen by itself
  char state = '?';
  friend bool operator==(const ThreadState&, const ThreadState&) = default;
};

// All threads of a process, its main thread first; at most `most`. Empty when it is gone.
std::vector<ThreadState> threads_of(const std::filesystem::path& root, pid_t process,
                                    std::size_t most);

// "sleeping in futex_wait_queue (futex)", "D, uninterruptible, in a < b < c (ioctl)", "running"
std::string doing(const std::filesystem::path& root, const ThreadState& thread);

// Waits for something and cannot be killed meanwhile.
inline bool is_stuck(const ThreadState& thread) { return thread.state == 'D'; }

}  // namespace trainward::host
