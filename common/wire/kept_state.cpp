#include "common/wire/kept_state.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "common/os/sockets/passed_descriptors.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "common/wire/launch.hpp"

namespace trainward {
namespace {

Result<KeptState> receive(int connection, const std::string& where) {
  auto passed = receive_with_descriptors(connection, 1, MSG_DONTWAIT);
  if (!passed) return propagate(passed);
  if (passed->descriptors.size() != kept_descriptors) {
    return fail(ErrorKind::permanent, "was not handed over", where);
  }
  KeptState state;
  std::ranges::move(passed->descriptors, state.begin());
  return state;
}

}  // namespace

Result<KeptState> take_kept_state(const std::filesystem::path& program_folder) {
  const std::filesystem::path place = program_folder / attempt_files::kept_state;
  auto connection = connect_for_packets(place);
  if (!connection) {
    connection.error().kind = ErrorKind::permanent;
    return propagate(connection);
  }
  if (!is_own_peer(connection->get())) {
    return fail(ErrorKind::permanent, "is another user's socket", place.string());
  }
  pollfd ready{connection->get(), POLLIN, 0};
  if (::poll(&ready, 1, kept_wait_ms) <= 0) {
    return fail(ErrorKind::transient, "its keeper does not answer", place.string());
  }
  auto state = receive(connection->get(), place.string());
  if (!state) return state;
  if (::send(connection->get(), &kept_answer, 1, MSG_NOSIGNAL) != 1) {
    return fail_errno(errno, "answer the keeper of the state in memory", place.string());
  }
  return state;
}

bool is_state_of(int fd, uid_t user) {
  struct stat info {};
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == user && seals >= 0 &&
         (seals & F_SEAL_SEAL) == 0;
}

}  // namespace trainward
