// The file that `status --hosts` names: a line a machine. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/ctl/client/remote_address.hpp"

namespace trainward::ctl::fleet {

struct Host {
  std::string name;                        // as it was written, without "ssh://"
  std::optional<remote::Address> address;  // none: this machine
  std::string socket;                      // of this machine
};

// A line: ssh://[user@]host[:port][/path], the same without "ssh://", or unix:///PATH for a socket
// of this machine. "#" starts a comment. Kind usage, with the line, for anything else, and
// for a text without any.
Result<std::vector<Host>> read_hosts(std::string_view text, const std::string& file);

}  // namespace trainward::ctl::fleet
