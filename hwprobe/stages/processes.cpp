#include "hwprobe/stages/processes.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>

#include "common/os/clock.hpp"
#include "common/os/file.hpp"

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
  const auto stat = read_file(fmt::format("/proc/{}/stat", process.pid), 4096);
  if (!stat) return false;
  const std::string_view state = stat_field(*stat, 3);
  return state != "Z" && state != "X";
}

}  // namespace trainward::hwprobe
