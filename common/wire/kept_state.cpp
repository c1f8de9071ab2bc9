#include "common/wire/kept_state.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "common/os/sockets/unix_socket.hpp"
#include "common/wire/launch.hpp"

namespace trainward {
namespace {

Result<KeptState> receive(int connection, const std::string& where) {
  char what = 0;
  iovec data{&what, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kept_descriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) return fail_errno(errno, "receive the state in memory", where);
  KeptState state;
  const cmsghdr* head = got == 0 ? nullptr : CMSG_FIRSTHDR(&message);
  const bool descriptors =
      head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS;
  const std::size_t count = descriptors ? (head->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
  for (std::size_t i = 0; i < std::min(count, kept_descriptors); ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
    state.at(i) = Fd(fd);
  }
  if (count == kept_descriptors) return state;
  return fail(ErrorKind::permanent, "was not handed over", where);
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
