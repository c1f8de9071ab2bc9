#include "supervisor/daemon/service/inherited_sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <array>
#include <cstdlib>

namespace trainward::daemon {

std::optional<config::Address> address_of(int fd) {
  sockaddr_storage where{};
  socklen_t size = sizeof(where);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size) != 0) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (where.ss_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(&where);
    ::inet_ntop(AF_INET, &four->sin_addr, text.data(), text.size());
    return config::Address{text.data(), ntohs(four->sin_port)};
  }
  if (where.ss_family != AF_INET6) return std::nullopt;
  const auto* six = reinterpret_cast<const sockaddr_in6*>(&where);
  ::inet_ntop(AF_INET6, &six->sin6_addr, text.data(), text.size());
  return config::Address{text.data(), ntohs(six->sin6_port)};
}

InheritedSockets inherited_sockets() {
  InheritedSockets found;
  char** names = nullptr;
  const int count = sd_listen_fds_with_names(0, &names);
  for (int i = 0; i < count; ++i) {
    const int fd = SD_LISTEN_FDS_START + i;
    const std::string name = names[i];
    std::free(names[i]);  // NOLINT(cppcoreguidelines-owning-memory): libsystemd's
    const bool local = sd_is_socket_unix(fd, SOCK_STREAM, 1, nullptr, 0) > 0;
    const bool inet = sd_is_socket_inet(fd, AF_UNSPEC, SOCK_STREAM, 1, 0) > 0;
    const auto address = inet ? address_of(fd) : std::nullopt;
    if (local && found.unix_socket < 0) {
      found.unix_socket = fd;
    } else if (address) {
      found.tcp.push_back({fd, *address});
    } else {
      found.others.push_back(name);
    }
  }
  std::free(names);  // NOLINT(cppcoreguidelines-owning-memory): libsystemd's
  return found;
}

void hand_on(const InheritedSockets& sockets, bool on) {
  const int flags = on ? 0 : FD_CLOEXEC;
  if (sockets.unix_socket >= 0) ::fcntl(sockets.unix_socket, F_SETFD, flags);
  for (const InheritedSockets::Tcp& socket : sockets.tcp) ::fcntl(socket.fd, F_SETFD, flags);
}

}  // namespace trainward::daemon
