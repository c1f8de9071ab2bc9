// Addresses taken apart by libcurl, which will also use them: no second opinion about where a
// request goes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainward::net {

// Where a connection goes: two addresses of one origin share who may see their headers.
struct Origin {
  std::string scheme;  // "http" or "https"
  std::string host;
  std::string port;  // also where the address does not say it

  friend bool operator==(const Origin&, const Origin&) = default;
};

// Nothing: not an address, or of another protocol.
std::optional<Origin> origin_of(std::string_view url);

// Where a redirect from `base` leads; nothing when that is no address.
std::optional<std::string> resolved(std::string_view base, std::string_view location);

}  // namespace trainward::net
