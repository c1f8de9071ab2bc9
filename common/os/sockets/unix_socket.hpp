// Unix sockets by path, also where the path is longer than the 107 bytes of sun_path.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward {

// A short alias for a socket path: the path itself when it fits, else /proc/self/fd/N/NAME over an
// open descriptor of its folder. Valid in this process while the object lives.
class SocketPath {
 public:
  static Result<SocketPath> make(const std::filesystem::path& path);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  SocketPath(std::string text, Fd folder) : text_(std::move(text)), folder_(std::move(folder)) {}
  std::string text_;
  Fd folder_;
};

enum class SocketPlace {
  free,  // nothing lies there
  dead,  // a socket that no process holds
  held,  // a socket of a process that lives
};

// What lies where a socket is to be made. Anything but a socket is an error of kind permanent that
// says what it is. Changes nothing; waits for a third of a second at most.
Result<SocketPlace> look_at_place(const std::filesystem::path& socket);

// Removes a dead socket; what else lies there stays, and is an error.
Status make_room(const std::filesystem::path& socket);

// The file of a socket that this process has just bound: removed at the end, unless it is another's
// by then.
class SocketFile {
 public:
  SocketFile() = default;
  explicit SocketFile(SocketPath path);
  // Of one that was bound earlier, by this process; empty when another lies there by now.
  SocketFile(SocketPath path, dev_t device, ino_t inode);
  ~SocketFile() { remove(); }
  SocketFile(SocketFile&& other) noexcept { *this = std::move(other); }
  SocketFile& operator=(SocketFile&& other) noexcept {
    remove();
    path_ = std::exchange(other.path_, std::nullopt);
    device_ = other.device_;
    inode_ = other.inode_;
    return *this;
  }
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

  void remove();

  explicit operator bool() const { return path_.has_value(); }
  [[nodiscard]] dev_t device() const { return device_; }
  [[nodiscard]] ino_t inode() const { return inode_; }

 private:
  std::optional<SocketPath> path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// A bound datagram socket (CLOEXEC, non-blocking), in the place of a dead one or of nothing.
Result<Fd> bind_datagram(const std::filesystem::path& path, unsigned mode);
// A connected datagram socket (CLOEXEC, non-blocking).
Result<Fd> connect_datagram(const std::filesystem::path& path);

// The same for packets with an order and an end, and connections that are accepted.
Result<Fd> listen_for_packets(const std::filesystem::path& path, unsigned mode);
Result<Fd> connect_for_packets(const std::filesystem::path& path);
// Whether the process at the other end, which may be gone, is of this process's user or root's.
bool is_own_peer(int fd);

}  // namespace trainward
