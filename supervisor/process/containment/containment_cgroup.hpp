// The cgroup of one worker: everything it starts is in it, whatever it does, and dies with it.
//
// On a host with version 2 that is one group there. On a version 1 host: a group in the systemd and
// freezer hierarchies. Where the memory controller lives in version 1 (hybrid hosts too), a group
// there is made for a worker with a memory limit only: joining one costs about 15 ms. A host
// without any, or without the right to make one, yields no group; then process group and subreaper
// have to do (shim/sweep.hpp).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "supervisor/process/containment/containment_host.hpp"

namespace trainward::containment {

class Cgroup {
 public:
  // Makes what the host allows. What was wanted and is not there is said in notes().
  static Cgroup create(const CgroupHost& host, const std::string& name,
                       std::optional<std::int64_t> memory_limit_bytes);
  // The groups of this name that exist already (another process made them).
  static Cgroup existing(const CgroupHost& host, const std::string& name);

  // "cgroup2", "cgroup2+memory", "cgroup2+memory1", "cgroup1", … or "none"
  [[nodiscard]] std::string kind() const;
  // Tracks processes, so an empty group means that nothing is left.
  [[nodiscard]] bool tracks() const { return !tracker().empty(); }
  [[nodiscard]] const std::filesystem::path& tracker() const {
    return unified_.empty() ? systemd_.empty() ? freezer_ : systemd_ : unified_;
  }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  // For clone3(CLONE_INTO_CGROUP); empty without version 2.
  [[nodiscard]] Result<Fd> open_unified() const;
  // The files into which a new process writes "0" to join; `unified`: version 2 among them.
  [[nodiscard]] std::vector<Fd> open_join_files(bool unified) const;

  [[nodiscard]] std::vector<pid_t> processes() const;
  // Cheap. A group that was deleted is empty.
  [[nodiscard]] bool empty() const;
  // SIGKILL to everything inside, forks included where the kernel can (5.14, or a freezer). Does
  // not wait.
  void kill() const;
  // Processes that the kernel killed for want of memory, so far; the difference over an attempt is
  // evidence. Counted for the worker alone where its group has the memory controller, else for the
  // group this process is in ("group"), else on the whole machine ("host").
  [[nodiscard]] std::int64_t oom_kills() const;
  [[nodiscard]] std::string_view oom_scope() const;
  // Deletes the groups; false while something is inside.
  bool remove() const;

 private:
  void kill_version_1() const;
  void make(std::filesystem::path& place, const std::filesystem::path& parent,
            const std::string& name);
  void limit_memory(std::int64_t bytes);

  std::filesystem::path unified_;
  std::filesystem::path systemd_;
  std::filesystem::path freezer_;
  std::filesystem::path memory_;
  std::filesystem::path own_memory_;  // version 1, the group of this process
  bool memory_in_unified_ = false;
  std::vector<std::string> notes_;
};

}  // namespace trainward::containment
