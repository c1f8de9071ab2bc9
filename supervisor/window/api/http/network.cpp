#include "supervisor/window/api/http/network.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

namespace trainward::api {

std::string network_of(const std::string& address) {
  in6_addr network{};
  if (::inet_pton(AF_INET6, address.c_str(), &network) != 1) return address;
  // One of IPv4 that came in over a socket of both.
  if (IN6_IS_ADDR_V4MAPPED(&network)) return address;
  std::memset(network.s6_addr + 8, 0, 8);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(AF_INET6, &network, text.data(), text.size()) == nullptr) return address;
  return std::string(text.data()) + "/64";
}

}  // namespace trainward::api
