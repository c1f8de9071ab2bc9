#include "common/unix_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/file.hpp"

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

// A datagram socket and the address it is to bind or connect to.
struct Datagram {
  SocketPath path;
  sockaddr_un address;
  Fd fd;

  static Result<Datagram> make(const std::filesystem::path& path) {
    auto shortened = SocketPath::make(path);
    if (!shortened) return propagate(shortened);
    auto address = address_of(shortened->text());
    if (!address) return propagate(address);
    Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return fail_errno(errno, "make a socket", path.string());
    return Datagram{std::move(*shortened), *address, std::move(fd)};
  }
  [[nodiscard]] const sockaddr* name() const { return reinterpret_cast<const sockaddr*>(&address); }
};

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

Result<Fd> bind_datagram(const std::filesystem::path& path, unsigned mode) {
  auto socket = Datagram::make(path);
  if (!socket) return propagate(socket);
  ::unlink(socket->path.text().c_str());
  if (::bind(socket->fd.get(), socket->name(), sizeof(socket->address)) != 0) {
    return fail_errno(errno, "bind the socket", path.string());
  }
  if (::chmod(socket->path.text().c_str(), mode) != 0) {
    return fail_errno(errno, "set the socket's mode", path.string());
  }
  return std::move(socket->fd);
}

Result<Fd> connect_datagram(const std::filesystem::path& path) {
  auto socket = Datagram::make(path);
  if (!socket) return propagate(socket);
  if (::connect(socket->fd.get(), socket->name(), sizeof(socket->address)) != 0) {
    return fail_errno(errno, "connect to the socket", path.string());
  }
  return std::move(socket->fd);
}

}  // namespace trainward
