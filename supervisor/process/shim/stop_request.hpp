// The request that a worker ends: who was asked, and who of them is still at it.
//
// What was started first is often a shell or a launcher. Such a one dies of the signal at once,
// while the training behind it saves for seconds. So the end of the first process is not the end of
// what was asked: that is when nobody of its process group is left.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

namespace trainward::shim {

class StopRequest {
 public:
  // `group`: the worker's process group. `signal`: asks it to save and exit.
  StopRequest(pid_t group, int signal) : group_(group), signal_(signal) {}

  // `told`: everybody has had SIGTERM from somebody else. Passed on it would be a second one, which
  // many programs take for "end now, do not save".
  void ask(bool told);
  [[nodiscard]] bool asked() const { return asked_; }

  // A first process that ended so may leave others that were asked as well: there was a request, or
  // the signal came from somebody who did not ask us.
  [[nodiscard]] bool concerns(int status) const { return asked_ || died_of_it(status); }
  // Who is waited for after it: who handles the signal, or ignores further ones since it came. Of
  // others nothing will come; they are waited for when there is nobody else.
  [[nodiscard]] std::vector<pid_t> unfinished(int status);

 private:
  [[nodiscard]] bool died_of_it(int status) const;
  [[nodiscard]] bool answers(pid_t pid) const;

  pid_t group_;
  int signal_;
  bool asked_ = false;
  bool answered_ = false;
  std::set<pid_t> heard_;  // who handled the signal when it came
};

}  // namespace trainward::shim
