// connect: the other end of --host. Connections to this machine's daemon, carried over standard
// input and output.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "common/base/version.hpp"
#include "common/os/sockets/unix_socket.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/hello.hpp"
#include "supervisor/ctl/client/relay.hpp"
#include "supervisor/ctl/client/source.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

struct ConnectRequest {
  bool only = false;  // whatever the other side asks for
};

tl::expected<Fd, int> connect_to(const fs::path& socket) {
  const auto path = SocketPath::make(socket);
  if (!path) {
    const bool denied = ::access(socket.parent_path().c_str(), F_OK) != 0 && errno == EACCES;
    return tl::unexpected<int>(denied ? EACCES : ENOENT);
  }
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return tl::unexpected<int>(errno);
  // Many at once find the daemon's queue full for a moment. What else goes through here waits for
  // the same daemon.
  const timeval patience{1, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& text = path->text();
  if (text.size() >= sizeof(address.sun_path)) return tl::unexpected<int>(ENAMETOOLONG);
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return tl::unexpected<int>(errno);
  }
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  return fd;
}

// A state folder or a socket, as the other side names it.
fs::path socket_at(const std::string& place) {
  fs::path path = place;
  if (place.starts_with('~')) {
    const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): the only thread
    path = fs::path(home == nullptr ? "." : home) / (place.size() > 2 ? place.substr(2) : "");
  }
  std::error_code error;
  const bool socket = fs::exists(path, error) && !fs::is_directory(path, error);
  if (socket) return path;
  Settings settings;
  settings.state_dir = path;
  return settings.socket_path();
}

// The first line; `rest` is what came behind it. Nothing at the end of input.
Result<std::optional<remote::Hello>> read_hello(std::string& rest) {
  for (;;) {
    auto hello = remote::take_hello(rest);
    if (!hello || *hello) return hello;
    std::array<char, 4096> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    rest.append(piece.data(), static_cast<std::size_t>(got));
  }
}

int relay(const fs::path& socket, std::string_view behind_hello) {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) {
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  }
  remote::Relay relay(STDIN_FILENO, STDOUT_FILENO, [&] { return connect_to(socket); });
  relay.add_input(behind_hello);
  for (;;) {
    const auto goes_on = relay.turn();
    // A client that can no longer be written to is gone; that is not an error.
    if (!goes_on) return goes_on.error().kind == ErrorKind::corrupt ? exit_status::failed : 0;
    if (!*goes_on) return exit_status::ok;
  }
}

int connect(const Context& context, const ConnectRequest& request) {
  if (::isatty(STDIN_FILENO) == 1) {
    return finish(context, {exit_status::usage,
                            {ErrorKind::usage, "connect is for another trainwardctl to call", "",
                             "type on the other machine: trainwardctl --host ssh://HOST status"}});
  }
  std::signal(SIGPIPE, SIG_IGN);  // a reader that is gone is an end like any other
  std::string rest;
  const auto hello = read_hello(rest);
  if (!hello || !*hello) {
    return finish(context, {exit_status::usage,
                            {ErrorKind::usage, "no trainwardctl is at the other end", "", ""}});
  }
  std::error_code error;
  const fs::path own = fs::absolute(context.settings.socket_path(), error);
  const std::string& place = (*hello)->place;
  const fs::path socket = place.empty() ? own : socket_at(place);
  if (request.only && socket != own) {
    return finish(context,
                  {exit_status::usage,
                   {ErrorKind::usage, "this key leads to " + own.string() + " and nowhere else",
                    place, "leave the path out of the address"}});
  }
  context.terminal.out << remote::hello_line(
      {remote::protocol_spoken, std::string(version_text), socket.string()});
  context.terminal.out.flush();
  return relay(socket, rest);
}

}  // namespace

void add_connect(Cli& cli) {
  auto& request = cli.keep<ConnectRequest>();
  const Verb verb = cli.verb("connect", "internal: answers --host from other machines");
  verb.flag("--only", request.only, "no other socket than the one that this line names");
  cli.on(verb, request, connect);
}

}  // namespace trainward::ctl
