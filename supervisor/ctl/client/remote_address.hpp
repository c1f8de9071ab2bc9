// Where another machine's daemon is, as people write it: ssh://[user@]host[:port][/path]. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::ctl::remote {

struct Address {
  std::string user;  // empty: whom ssh takes
  std::string host;  // a name, an alias of ssh's configuration, or an address
  int port = 0;      // 0: which ssh takes
  // A state folder or a socket on that machine: absolute, or "~/…". Empty: what trainwardctl there
  // takes by itself.
  std::string place;
  std::string program;  // trainwardctl's absolute path there; empty: found by its name

  // "ssh://user@host:port/place"
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Address&, const Address&) = default;
};

// `text` with "ssh://" or without; "/~/" in front of the path is that user's home, "%20" a blank,
// and "?program=PATH" behind it names trainwardctl there. Kind usage for invalid addresses, and for
// names that ssh or a shell could take for something else than a name.
Result<Address> read_address(std::string_view text);

// The words behind "ssh". Nothing of the address reaches a shell there but `program`, which is
// quoted; the place is said through the connection. ssh asks for passwords only where it may.
std::vector<std::string> ssh_arguments(const Address& address, bool may_ask);

// "ssh user@host COMMAND", for a reader to type.
std::string line_to_type(const Address& address, std::string_view command);

}  // namespace trainward::ctl::remote
