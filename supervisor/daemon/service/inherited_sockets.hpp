// Sockets that an init system listens on for us (socket activation). Told apart by what they are,
// so that their names (FileDescriptorName=) are free.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "supervisor/config/reading/listening.hpp"

namespace trainward::daemon {

// Borrowed: they stay open as long as the process, and are handed on when it executes another
// image.
struct InheritedSockets {
  int unix_socket = -1;  // the first; -1: none
  struct Tcp {
    int fd = -1;
    config::Address address;
  };
  std::vector<Tcp> tcp;
  std::vector<std::string> others;  // names of those that nothing can be done with
};

InheritedSockets inherited_sockets();

// Where a TCP socket listens; nothing for any other socket.
std::optional<config::Address> address_of(int fd);

// Whether the next image of this process gets them.
void hand_on(const InheritedSockets& sockets, bool on);

}  // namespace trainward::daemon
