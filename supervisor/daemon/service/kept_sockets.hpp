// Sockets of our own that keep listening while this process becomes another image, or restarts
// as the same: nobody else can have the port or the path meanwhile, and who connects waits.
//
// Across an exec they are known by their numbers, which stand in the environment of the new image,
// and only there: it takes the variable out before it does anything else.
//
//   TRAINWARD_SOCKETS={"pid": 123, "unix": {"fd": 5, "path": "/…/trainward.sock", "device": 1,
//                      "inode": 2}, "tcp": [6, 7]}
//
// Between two images all of them are closed at an exec, so no child ever has one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/os/fd.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "supervisor/config/reading/listening.hpp"

namespace trainward::daemon {

struct KeptSockets {
  struct Unix {
    Fd fd;
    std::filesystem::path path;
    SocketFile file;  // removed with this object
  };
  struct Tcp {
    Fd fd;
    config::Address address;
  };
  std::optional<Unix> local;
  std::vector<Tcp> tcp;
};

// What the image before this one has left, as far as it still listens where that says. Call it
// once, while there is one thread.
KeptSockets kept_sockets();

// The variable, "NAME=…"; empty when there is nothing to keep.
std::string as_variable(const KeptSockets& sockets);

// Whether the next image of this process gets them.
void hand_on(const KeptSockets& sockets, bool on);

}  // namespace trainward::daemon
