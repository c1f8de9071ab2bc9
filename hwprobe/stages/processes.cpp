#include "hwprobe/stages/processes.hpp"

#include <sys/wait.h>

#include <csignal>

#include "common/os/clock.hpp"
#include "common/os/processes/process_files.hpp"

namespace trainward::hwprobe {

void Processes::kill(pid_t child) { ::kill(child, SIGKILL); }

Waited Processes::wait(pid_t child) {
  Waited waited;
  const pid_t got = ::waitpid(child, &waited.status, WNOHANG);
  if (got == child) {
    waited.state = Waited::State::ended;
  } else if (got < 0) {
    waited.state = Waited::State::not_a_child;
  }
  return waited;
}

bool Processes::runs(const ProcessId& process) {
  if (process.boot != boot_id()) return false;
  // The number may be another's by now, and one that is our child: only the very process is reaped.
  const auto found = identify(process.pid);
  if (!found || *found != process) return false;
  switch (wait(process.pid).state) {
    case Waited::State::running:
      return true;
    case Waited::State::ended:
      return false;
    case Waited::State::not_a_child:
      break;
  }
  const auto stat = host::read_stat("/", process.pid);
  return stat && !stat->ended();
}

}  // namespace trainward::hwprobe
