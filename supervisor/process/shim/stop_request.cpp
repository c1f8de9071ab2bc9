#include "supervisor/process/shim/stop_request.hpp"

#include <sys/wait.h>

#include <csignal>

#include "supervisor/process/containment/proc.hpp"

namespace trainward::shim {

using containment::Disposition;
using containment::disposition;

void StopRequest::ask(bool told) {
  if (!asked_) {
    for (const pid_t pid : containment::group_members(group_)) {
      if (disposition(pid, signal_) == Disposition::handled) heard_.insert(pid);
    }
  }
  asked_ = true;
  if (!told || signal_ != SIGTERM) ::kill(-group_, signal_);
}

std::vector<pid_t> StopRequest::unfinished(int status) {
  const std::vector<pid_t> left = containment::group_members(group_);
  std::vector<pid_t> answering = left;
  std::erase_if(answering, [this](pid_t pid) { return !answers(pid); });
  // A shell blocks every signal for a moment before it waits, which looks like an answer.
  if (WIFSIGNALED(status) && died_of_it(status)) heard_.erase(group_);
  answered_ = answered_ || !heard_.empty() || !answering.empty() || !died_of_it(status);
  return answered_ ? answering : left;
}

bool StopRequest::answers(pid_t pid) const {
  const Disposition makes_of_it = disposition(pid, signal_);
  return makes_of_it == Disposition::handled ||
         (makes_of_it == Disposition::ignored && heard_.contains(pid));
}

// By the signal, or by what a shell makes of it.
bool StopRequest::died_of_it(int status) const {
  constexpr int by_signal = 128;
  const auto is_it = [&](int number) { return number == signal_ || number == SIGTERM; };
  return WIFSIGNALED(status) ? is_it(WTERMSIG(status)) : is_it(WEXITSTATUS(status) - by_signal);
}

}  // namespace trainward::shim
