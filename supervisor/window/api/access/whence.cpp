#include "supervisor/window/api/access/whence.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/text.hpp"
#include "supervisor/window/api/http/network.hpp"

namespace trainward::api {
namespace {

// The last: those before it are what the proxy was told. Empty when it is no address.
std::string client_behind(const Request& request) {
  const std::string header = request.header("x-forwarded-for");
  const auto comma = header.rfind(',');
  const std::string last(
      trim(std::string_view(header).substr(comma == std::string::npos ? 0 : comma + 1)));
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  const bool is_address = ::inet_pton(AF_INET, last.c_str(), bytes.data()) == 1 ||
                          ::inet_pton(AF_INET6, last.c_str(), bytes.data()) == 1;
  return is_address ? network_of(last) : "";
}

}  // namespace

std::string whence(const Request& request, const std::vector<std::string>& proxies) {
  const Peer& peer = request.peer;
  const auto& user = peer.user ? peer.user : peer.sender;
  // The proxy's user is part of it: on the same machine anybody else could say so too.
  std::string place = user ? fmt::format("user {}", *user) : network_of(peer.address);
  if (std::find(proxies.begin(), proxies.end(), peer.address) == proxies.end()) return place;
  const std::string client = client_behind(request);
  return client.empty() ? place : place + " for " + client;
}

}  // namespace trainward::api
