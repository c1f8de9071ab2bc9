#include "common/os/sockets/passed_descriptors.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace trainward {
namespace {

struct alignas(cmsghdr) Control {
  std::array<char, CMSG_SPACE(most_passed * sizeof(int))> bytes{};
};

}  // namespace

Status send_with_descriptors(int socket, std::string_view bytes, std::span<const int> descriptors,
                             int flags) {
  if (descriptors.size() > most_passed) {
    return fail(ErrorKind::usage, fmt::format("{} descriptors are too many", descriptors.size()));
  }
  iovec data{const_cast<char*>(bytes.data()), bytes.size()};
  Control control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const std::size_t size = descriptors.size() * sizeof(int);
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(head), descriptors.data(), size);
  }
  const ssize_t sent = ::sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(bytes.size())) return {};
  return fail_errno(sent < 0 ? errno : EMSGSIZE, "pass descriptors on");
}

Result<Passed> receive_with_descriptors(int socket, std::size_t most_bytes, int flags) {
  Passed passed;
  passed.bytes.resize(most_bytes);
  iovec data{passed.bytes.data(), passed.bytes.size()};
  Control control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return fail_errno(errno, "receive descriptors");
  passed.bytes.resize(static_cast<std::size_t>(got));
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head == nullptr || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
    return passed;
  }
  const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
    passed.descriptors.emplace_back(fd);
  }
  return passed;
}

}  // namespace trainward
