// One of several processes that train together: what it knows of that, and tells its launcher.
#pragma once

#include <functional>

#include "common/os/fd.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward::trainer {

namespace env {
// A datagram socket, set by the launcher for the ranks it starts: "RANK=1\nPID=4711" when a rank
// begins, "RANK=1\nDONE=1" before it ends as it should.
inline constexpr const char* ranks_socket = "TRAINWARD_RANKS_SOCKET";
}  // namespace env

// Whether this process is one of several already: by the launcher, or by a user's mpiexec.
// `look_up` returns nullptr for a variable that is not set, as getenv() does.
bool started_as_rank(const std::function<const char*(const char* name)>& look_up);

// Tells the launcher, if there is one, that this rank runs, and by done() that it may end.
class RankReport {
 public:
  // `socket`: where the launcher listens; nullptr, or no listener: nothing is reported.
  RankReport(int rank, const char* socket);
  void done() const;

 private:
  void tell(Message message) const;
  Fd socket_;
  int rank_;
};

// From here on the kernel ends this process when the one that started it dies.
void end_with_parent();

}  // namespace trainward::trainer
