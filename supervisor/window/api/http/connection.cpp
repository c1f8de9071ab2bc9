#include "supervisor/window/api/http/connection.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "supervisor/window/api/http/network.hpp"

namespace trainward::api {
namespace {

// Nobody's when the kernel does not say.
uid_t user_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return uid_t(-1);
  return peer.uid;
}

std::string text_of(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(family, address, text.data(), text.size()) == nullptr ? "" : text.data();
}

void set(int socket, int level, int option, int value) {
  (void)::setsockopt(socket, level, option, &value, sizeof(value));
}

}  // namespace

Peer peer_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return {std::nullopt, "nobody"};  // gone already
  }
  if (address.ss_family == AF_UNIX) return {user_of(socket), ""};
  if (address.ss_family == AF_INET) {
    return {std::nullopt, text_of(AF_INET, &reinterpret_cast<sockaddr_in*>(&address)->sin_addr)};
  }
  const in6_addr& six = reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&six)) return {std::nullopt, text_of(AF_INET, six.s6_addr + 12)};
  return {std::nullopt, text_of(AF_INET6, &six)};
}

Places::Visitor visitor_of(const Peer& peer) {
  if (peer.user) {
    return {fmt::format("user {}", *peer.user), *peer.user == 0 || *peer.user == ::geteuid()};
  }
  if (peer.address == "::1" || peer.address.starts_with("127.")) {
    return {"this machine", false, Places::for_others};
  }
  return {network_of(peer.address), false};
}

void tune(int socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 20);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace trainward::api
