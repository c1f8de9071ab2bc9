#include "trainer/ranks/rank.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "common/os/sockets/unix_socket.hpp"

namespace trainward::trainer {

bool started_as_rank(const std::function<const char*(const char* name)>& look_up) {
  if (look_up(env::ranks_socket) != nullptr) return true;
  // Open MPI and MPICH. A batch system may set them for one process, which is alone all the same.
  constexpr std::array sizes{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  for (const char* name : sizes) {
    const char* size = look_up(name);
    if (size != nullptr && std::atoi(size) > 1) return true;
  }
  return false;
}

RankReport::RankReport(int rank, const char* socket) : rank_(rank) {
  if (socket == nullptr) return;
  if (auto connected = connect_datagram(socket)) socket_ = std::move(*connected);
  tell({{"PID", std::to_string(::getpid())}});
}

void RankReport::done() const { tell({{"DONE", "1"}}); }

void RankReport::tell(Message message) const {
  if (!socket_) return;
  message.emplace_back("RANK", std::to_string(rank_));
  const std::string text = encode(message);
  (void)::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

void end_with_parent() {
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Closes the gap: it may have died just before.
  if (::getppid() != parent) std::_Exit(1);
}

}  // namespace trainward::trainer
