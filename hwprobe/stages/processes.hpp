// What is done to a child from outside, behind an interface: a test cannot create a process that
// the kernel does not let die, but it can fake a wait that never says "ended".
//
// Nothing here blocks.
#pragma once

#include <sys/types.h>

#include <optional>

#include "common/os/processes/process_id.hpp"

namespace trainward::hwprobe {

struct Waited {
  enum class State { running, ended, not_a_child };
  State state = State::running;
  int status = 0;  // of an ended one, as waitpid(2) gives it
};

class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  virtual ~Processes() = default;

  virtual void kill(pid_t child);    // SIGKILL
  virtual Waited wait(pid_t child);  // reaps one that has ended

  // Does exactly this process still run? A child of ours that has ended is reaped and gone; another
  // process's zombie is gone too.
  bool runs(const ProcessId& process);
};

}  // namespace trainward::hwprobe
