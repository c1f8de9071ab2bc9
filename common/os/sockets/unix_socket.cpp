#include "common/os/sockets/unix_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/os/file.hpp"

namespace trainward {
namespace {

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return fail(ErrorKind::usage, "the socket's file name is too long", path);
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// A socket and the address it is to bind or connect to.
struct Endpoint {
  SocketPath path;
  sockaddr_un address;
  Fd fd;

  static Result<Endpoint> make(const std::filesystem::path& path, int type) {
    auto shortened = SocketPath::make(path);
    if (!shortened) return propagate(shortened);
    auto address = address_of(shortened->text());
    if (!address) return propagate(address);
    Fd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return fail_errno(errno, "make a socket", path.string());
    return Endpoint{std::move(*shortened), *address, std::move(fd)};
  }
  [[nodiscard]] const sockaddr* name() const { return reinterpret_cast<const sockaddr*>(&address); }
  [[nodiscard]] int connect() const {
    return ::connect(fd.get(), name(), sizeof(address)) == 0 ? 0 : errno;
  }
};

std::string_view name_of(mode_t mode) {
  if (S_ISREG(mode)) return "a file";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a named pipe";
  return "a device";
}

// A killed process may still be closing its descriptors: a client that has just connected is then
// hung up on, and the next one is refused.
constexpr int dying_ms = 300;

Result<bool> somebody_holds(const std::filesystem::path& socket) {
  constexpr int tries = 3;
  for (int i = 0; i < tries; ++i) {
    auto endpoint = Endpoint::make(socket, SOCK_STREAM);
    if (!endpoint) return propagate(endpoint);
    const int refusal = endpoint->connect();
    if (refusal == ECONNREFUSED || refusal == ENOENT) return false;
    // Too many wait already, or it is for datagrams.
    if (refusal == EAGAIN || refusal == EPROTOTYPE) return true;
    if (refusal != 0) {
      return fail_errno(refusal, "see whether anybody listens on this socket", socket.string(),
                        "remove it, or have another one made with `socket:`");
    }
    pollfd hung_up{endpoint->fd.get(), 0, 0};
    if (::poll(&hung_up, 1, dying_ms) <= 0) return true;
  }
  return true;
}

}  // namespace

Result<SocketPath> SocketPath::make(const std::filesystem::path& path) {
  if (path.string().size() < sizeof(sockaddr_un::sun_path)) {
    return SocketPath(path.string(), Fd());
  }
  auto folder = open_file(path.parent_path(), O_PATH | O_DIRECTORY);
  if (!folder) return propagate(folder);
  std::string text = fmt::format("/proc/self/fd/{}/{}", folder->get(), path.filename().string());
  return SocketPath(std::move(text), std::move(*folder));
}

Result<SocketPlace> look_at_place(const std::filesystem::path& socket) {
  struct stat there {};
  if (::lstat(socket.c_str(), &there) != 0) {
    if (errno == ENOENT) return SocketPlace::free;
    return fail_errno(errno, "look at the place for a socket", socket.string());
  }
  if (!S_ISSOCK(there.st_mode)) {
    return fail(ErrorKind::permanent,
                fmt::format("{} lies where the socket is to be made", name_of(there.st_mode)),
                socket.string(), "nothing was changed; move it away, or name another `socket:`");
  }
  auto held = somebody_holds(socket);
  if (!held) return propagate(held);
  return *held ? SocketPlace::held : SocketPlace::dead;
}

Status make_room(const std::filesystem::path& socket) {
  auto place = look_at_place(socket);
  if (!place) return propagate(place);
  switch (*place) {
    case SocketPlace::free:
      return {};
    case SocketPlace::held:
      return fail(ErrorKind::transient, "a process that lives holds this socket", socket.string(),
                  "`fuser` on it names the process; end that, or name another `socket:`");
    case SocketPlace::dead:
      break;
  }
  if (::unlink(socket.c_str()) != 0 && errno != ENOENT) {
    return fail_errno(errno, "remove the dead socket", socket.string());
  }
  return {};
}

SocketFile::SocketFile(SocketPath path) : path_(std::move(path)) {
  struct stat bound {};
  if (::lstat(path_->text().c_str(), &bound) != 0) path_.reset();
  device_ = bound.st_dev;
  inode_ = bound.st_ino;
}

SocketFile::SocketFile(SocketPath path, dev_t device, ino_t inode) : SocketFile(std::move(path)) {
  if (device_ != device || inode_ != inode) path_.reset();
}

void SocketFile::remove() {
  const auto path = std::exchange(path_, std::nullopt);
  struct stat there {};
  if (!path || ::lstat(path->text().c_str(), &there) != 0) return;
  if (there.st_dev == device_ && there.st_ino == inode_) ::unlink(path->text().c_str());
}

namespace {

Result<Fd> bind_in_place(const std::filesystem::path& path, int type, unsigned mode) {
  if (auto room = make_room(path); !room) return propagate(room);
  auto socket = Endpoint::make(path, type);
  if (!socket) return propagate(socket);
  if (::bind(socket->fd.get(), socket->name(), sizeof(socket->address)) != 0) {
    return fail_errno(errno, "bind the socket", path.string());
  }
  if (::chmod(socket->path.text().c_str(), mode) != 0) {
    return fail_errno(errno, "set the socket's mode", path.string());
  }
  return std::move(socket->fd);
}

Result<Fd> connect_to(const std::filesystem::path& path, int type) {
  auto socket = Endpoint::make(path, type);
  if (!socket) return propagate(socket);
  if (const int refusal = socket->connect(); refusal != 0) {
    return fail_errno(refusal, "connect to the socket", path.string());
  }
  return std::move(socket->fd);
}

}  // namespace

Result<Fd> bind_datagram(const std::filesystem::path& path, unsigned mode) {
  return bind_in_place(path, SOCK_DGRAM, mode);
}

Result<Fd> connect_datagram(const std::filesystem::path& path) {
  return connect_to(path, SOCK_DGRAM);
}

Result<Fd> listen_for_packets(const std::filesystem::path& path, unsigned mode) {
  auto fd = bind_in_place(path, SOCK_SEQPACKET, mode);
  if (fd && ::listen(fd->get(), SOMAXCONN) != 0) {
    return fail_errno(errno, "listen on the socket", path.string());
  }
  return fd;
}

Result<Fd> connect_for_packets(const std::filesystem::path& path) {
  return connect_to(path, SOCK_SEQPACKET);
}

bool is_own_peer(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == 0 || peer.uid == ::geteuid());
}

}  // namespace trainward
