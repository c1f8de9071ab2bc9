#include "supervisor/daemon/service/kept_sockets.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "common/base/json/json.hpp"
#include "supervisor/daemon/service/inherited_sockets.hpp"

namespace trainward::daemon {
namespace {

constexpr const char* variable = "TRAINWARD_SOCKETS";

// Its number stood in a text, so it is looked at before it is believed to be ours.
Fd listening(std::int64_t number, bool local) {
  const int fd = static_cast<int>(number);
  if (fd != number || fd <= STDERR_FILENO) return {};
  const int is = local ? sd_is_socket_unix(fd, SOCK_STREAM, 1, nullptr, 0)
                       : sd_is_socket_inet(fd, AF_UNSPEC, SOCK_STREAM, 1, 0);
  if (is <= 0 || ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return {};
  return Fd(fd);
}

std::optional<KeptSockets::Unix> local_in(const json::object& entry) {
  KeptSockets::Unix local{
      listening(int_or(entry, "fd", -1), true), string_or(entry, "path", ""), {}};
  auto path = SocketPath::make(local.path);
  if (!local.fd || !path) return std::nullopt;
  local.file = SocketFile(std::move(*path), static_cast<dev_t>(int_or(entry, "device", 0)),
                          static_cast<ino_t>(int_or(entry, "inode", 0)));
  if (!local.file) return std::nullopt;  // it can no longer be reached there
  return local;
}

}  // namespace

KeptSockets kept_sockets() {
  KeptSockets kept;
  const char* text = std::getenv(variable);
  if (text == nullptr) return kept;
  const auto document = parse_json(text, variable);
  ::unsetenv(variable);
  if (!document || !document->is_object()) return kept;
  const json::object& entries = document->get_object();
  if (int_or(entries, "pid", 0) != ::getpid()) return kept;
  if (const auto* local = entries.if_contains("unix"); local != nullptr && local->is_object()) {
    kept.local = local_in(local->get_object());
  }
  const auto* tcp = entries.if_contains("tcp");
  if (tcp == nullptr || !tcp->is_array()) return kept;
  for (const json::value& number : tcp->get_array()) {
    Fd fd = number.is_int64() ? listening(number.get_int64(), false) : Fd();
    const auto address = fd ? address_of(fd.get()) : std::nullopt;
    if (address) kept.tcp.push_back({std::move(fd), *address});
  }
  return kept;
}

std::string as_variable(const KeptSockets& sockets) {
  if (!sockets.local && sockets.tcp.empty()) return {};
  json::object entries{{"pid", ::getpid()}};
  if (const auto& local = sockets.local) {
    entries["unix"] = {{"fd", local->fd.get()},
                       {"path", local->path.string()},
                       {"device", static_cast<std::int64_t>(local->file.device())},
                       {"inode", static_cast<std::int64_t>(local->file.inode())}};
  }
  json::array tcp;
  for (const KeptSockets::Tcp& socket : sockets.tcp) tcp.emplace_back(socket.fd.get());
  entries["tcp"] = std::move(tcp);
  return std::string(variable) + "=" + json::serialize(entries);
}

void hand_on(const KeptSockets& sockets, bool on) {
  const int flags = on ? 0 : FD_CLOEXEC;
  if (sockets.local) ::fcntl(sockets.local->fd.get(), F_SETFD, flags);
  for (const KeptSockets::Tcp& socket : sockets.tcp) ::fcntl(socket.fd.get(), F_SETFD, flags);
}

}  // namespace trainward::daemon
