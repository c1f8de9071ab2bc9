#include "supervisor/process/shim/message_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "common/os/sockets/unix_socket.hpp"

namespace trainward::shim {
namespace {

constexpr const char* socket_name = "worker.sock";

}  // namespace

Result<MessageSocket> MessageSocket::open(std::shared_ptr<const Folder> folder,
                                          const std::optional<Credentials>& user) {
  MessageSocket made;
  made.path_ = folder->path() / socket_name;
  if (made.path_.native().size() >= sizeof(sockaddr_un::sun_path)) {
    std::string pattern = "/tmp/trainward-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      return fail_errno(errno, "make a folder for the worker's socket", pattern);
    }
    made.temporary_ = pattern;
    if (user && ::chmod(pattern.c_str(), 0711) != 0) {
      return fail_errno(errno, "open the folder of the worker's socket to its user", pattern);
    }
    made.path_ = std::filesystem::path(pattern) / socket_name;
  } else {
    made.folder_ = std::move(folder);
  }
  // By the folder that is held, whatever its path leads to by now.
  const std::filesystem::path place =
      made.folder_ ? fmt::format("/proc/self/fd/{}/{}", made.folder_->fd(), socket_name)
                   : made.path_.string();
  auto fd = bind_datagram(place, 0600);
  if (!fd) return propagate(fd);
  made.fd_ = std::move(*fd);
  // The folder is the shim's own, so that nobody has put another thing in its place.
  if (user && ::lchown(place.c_str(), user->user, user->group) != 0) {
    return fail_errno(errno, "give the worker's socket to its user", made.path_.string());
  }
  return made;
}

MessageSocket::~MessageSocket() {
  if (!fd_) return;
  if (folder_) {
    (void)folder_->remove_file(socket_name);
    return;
  }
  ::unlink(path_.c_str());
  ::rmdir(temporary_.c_str());
}

std::optional<Message> MessageSocket::receive() const {
  std::array<char, max_message_bytes> text;
  const ssize_t got = ::recv(fd_.get(), text.data(), text.size(), MSG_DONTWAIT);
  if (got < 0) return std::nullopt;
  return parse_message(std::string_view(text.data(), static_cast<std::size_t>(got)));
}

}  // namespace trainward::shim
