#include "common/wire/notifier.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>

#include "common/os/sockets/unix_socket.hpp"

namespace trainward {

Notifier Notifier::from_environment() {
  Notifier notifier;
  if (const char* path = std::getenv(env::socket); path != nullptr && *path != '\0') {
    if (auto fd = connect_datagram(path)) notifier.fd_ = std::move(*fd);
  }
  return notifier;
}

void Notifier::send(const Message& message) const {
  if (!fd_) return;
  const std::string text = encode(message);
  for (;;) {
    if (::send(fd_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
      given_up_ = false;
      return;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN || given_up_) return;  // a vanished socket must not end training
    constexpr int patience_ms = 1000;
    pollfd queue{fd_.get(), POLLOUT, 0};
    given_up_ = ::poll(&queue, 1, patience_ms) == 0;
  }
}

}  // namespace trainward
