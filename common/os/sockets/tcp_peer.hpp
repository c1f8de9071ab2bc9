// Whose process is at the other end of a connection of TCP, when it runs on this machine.
//
// The kernel knows every socket by both its addresses: the one that is looked for has ours the
// other way round. Once its process has closed it, it has no owner, so a peer that has already
// disconnected is not identified. The user is the one who created the socket.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace trainward {

// Nothing for a peer on another machine, and where the kernel does not say. Asks by sock_diag(7),
// which looks up that one socket; where that is missing, by /proc/net/tcp and tcp6.
std::optional<uid_t> user_of_peer(int socket);

// The two ways, for tests.
struct PeerSearch {
  std::optional<uid_t> user;
  bool asked = false;  // the kernel has answered
};
PeerSearch search_by_sock_diag(int socket);
PeerSearch search_in_tables(int socket, const std::filesystem::path& root = "/");

}  // namespace trainward
