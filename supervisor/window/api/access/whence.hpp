// Where a request comes from, as a name. Wrong tries are counted by it, and a login is bound to it,
// so that a cookie which somebody else was sent is of no use to him. Pure.
//
//   "user 1000"           a process of this machine: whose it is, whatever port or name it asks by
//   "10.0.0.7"            another machine; one of IPv6 by its network, "2001:db8::/64"
//   "… for 203.0.113.9"   behind a proxy of `proxies:`: whom the proxy says it asks for
#pragma once

#include <string>
#include <vector>

#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

// `proxies`: addresses in digits.
std::string whence(const Request& request, const std::vector<std::string>& proxies);

}  // namespace trainward::api
