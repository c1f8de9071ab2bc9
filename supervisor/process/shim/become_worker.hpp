// What the process between fork and exec does to become the worker: limits, user, directory,
// descriptors, the command itself.
//
// All of it is made ready before the fork, so that the child only makes system calls. It returns on
// failure only, with what failed.
#pragma once

#include <sys/resource.h>

#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "common/wire/launch.hpp"

namespace trainward::shim {

// Where it failed; written to the parent as bytes.
struct Refusal {
  enum class Step { begin, limit, user, directory, folder, command };
  Step step = Step::begin;
  int reason = 0;         // errno
  std::size_t which = 0;  // of the limits or folders
};

class WorkerImage {
 public:
  explicit WorkerImage(const LaunchSpec& spec);
  WorkerImage(const WorkerImage&) = delete;  // holds pointers into itself
  WorkerImage& operator=(const WorkerImage&) = delete;
  ~WorkerImage() = default;

  struct Streams {
    int output = -1;
    int error = -1;
  };
  // In the child, whose parent is `parent`. `join`: files of cgroups to write oneself into.
  [[nodiscard]] Refusal become(pid_t parent, const Streams& streams,
                               const std::vector<Fd>& join) const;

  // In the parent: the refusal in words. Kind usage when it will be the same the next time.
  [[nodiscard]] Error error_of(const Refusal& refusal) const;

 private:
  struct Limit {
    int resource = 0;
    rlimit values{};
  };
  bool change_user(const Streams& streams) const;
  void execute() const;

  const LaunchSpec& spec_;
  std::vector<std::string> words_;
  std::vector<std::string> variables_;
  std::vector<std::string> places_;   // where the command may lie, in the order of PATH
  std::vector<std::string> folders_;  // which a user of its own must be able to write
  std::string oom_score_adj_;         // empty: stays
  std::vector<Limit> limits_;
  std::vector<char*> arguments_;
  mutable std::vector<char*> script_;  // the same for a script that does not say what reads it
  std::vector<char*> environment_;
};

}  // namespace trainward::shim
