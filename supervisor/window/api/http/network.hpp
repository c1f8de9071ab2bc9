// Whose an address is: who is counted by addresses is counted by these. Pure.
#pragma once

#include <string>

namespace trainward::api {

// "2001:db8::/64" of an address of IPv6, since who has one of the network has all of them; every
// other text, one of IPv4 that is written as IPv6 as well, is itself.
std::string network_of(const std::string& address);

}  // namespace trainward::api
