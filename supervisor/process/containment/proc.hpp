// What /proc says of this machine's processes (common/os/processes/process_files.hpp), and ending
// them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::containment {

// A file of /proc or of a cgroup; "" when it cannot be read, which there means: it is gone.
std::string read_proc(const std::filesystem::path& file);

// A process that SIGKILL has not ended.
struct Survivor {
  pid_t pid = 0;
  std::string name;      // "python3"
  std::string waits_in;  // the kernel function it sleeps in, where that can be read

  friend bool operator==(const Survivor&, const Survivor&) = default;
};
Survivor describe(pid_t pid);
// "123 (python3, in nfs_wait), 124 (sh)"
std::string to_string(const std::vector<Survivor>& survivors);

std::vector<pid_t> all_processes();
// Children of this process, zombies included.
std::vector<pid_t> own_children();
// 0: none, or it is gone.
pid_t parent_of(pid_t pid);
// Dead, or gone.
bool is_zombie(pid_t pid);
// The living of a process group.
std::vector<pid_t> group_members(pid_t group);
// What a process makes of a signal. One that waits for it with it blocked handles it.
enum class Disposition { standard, ignored, handled };
Disposition disposition(pid_t pid, int signal);
// The value of one variable in the environment a process was started with; "" when not there.
std::string_view variable(std::string_view environment, std::string_view name);

// SIGKILL to all of these, then waits until they have ended, at most wait_ms. Returns those that
// have not. Zombies have ended. `still_meant` is asked about each process once its number cannot
// pass to another process (by a pidfd, on kernels from 5.3 on).
std::vector<pid_t> kill_and_wait(const std::vector<pid_t>& pids, int wait_ms,
                                 const std::function<bool(pid_t)>& still_meant = {});

}  // namespace trainward::containment
