#include "supervisor/ctl/client/failure.hpp"

#include <cerrno>
#include <initializer_list>
#include <string_view>
#include <system_error>

#include "common/base/text.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::ctl::remote {
namespace {

constexpr int ssh_failed = 255;
constexpr int not_found = 127;
constexpr int not_executable = 126;
constexpr int wrong_use = 2;

ClientError trouble(Trouble kind, const Address& address, std::string what, std::string hint,
                    ErrorKind error = ErrorKind::permanent) {
  return {kind, {error, std::move(what), address.text(), std::move(hint)}, 0};
}

bool says(const std::string& said, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (said.find(word) != std::string::npos) return true;
  }
  return false;
}

// The last line that is not about the connection's own end.
std::string reason_in(const std::string& said) {
  std::string reason;
  for (std::string_view rest = said; !rest.empty();) {
    const std::string_view line = trim(take_line(rest));
    if (line.empty() || line.starts_with("Killed by signal")) continue;
    reason = line;
  }
  return reason.empty() ? "it gave no reason" : views::said(reason);
}

ClientError of_ssh(const Address& address, const std::string& said) {
  const std::string by_hand = line_to_type(address, "true");
  if (says(said, {"REMOTE HOST IDENTIFICATION HAS CHANGED", "Host key verification failed"})) {
    return trouble(Trouble::refused, address,
                   says(said, {"HAS CHANGED"})
                       ? "ssh does not go there, for the machine's key has changed"
                       : "ssh does not go there, for the machine's key is not known here",
                   "type `" + by_hand + "`, which shows the key and asks");
  }
  if (says(said, {"Permission denied", "Too many authentication failures"})) {
    return trouble(Trouble::denied, address, "ssh is not let in: " + reason_in(said),
                   "`" + by_hand +
                       "` must work without a password where nobody can type one: "
                       "ssh-add, or ssh-copy-id");
  }
  if (says(said, {"Could not resolve hostname"})) {
    return trouble(Trouble::refused, address,
                   "there is no machine of this name: " + reason_in(said),
                   "a name of ~/.ssh/config works too");
  }
  return trouble(Trouble::refused, address, "the machine cannot be reached: " + reason_in(said),
                 "`" + by_hand + "` shows the same", ErrorKind::transient);
}

}  // namespace

ClientError ended(const Address& address, const Ending& ending) {
  if (ending.not_started == ENOENT) {
    return trouble(Trouble::refused, address, "there is no ssh in PATH on this machine",
                   "install OpenSSH's client (openssh-client)");
  }
  if (ending.not_started != 0) {
    return trouble(Trouble::refused, address,
                   "ssh cannot be started: " + std::generic_category().message(ending.not_started),
                   "", ErrorKind::transient);
  }
  if (ending.greeted) {
    return trouble(Trouble::refused, address, "the connection broke off: " + reason_in(ending.said),
                   "try again", ErrorKind::transient);
  }
  if (ending.exit_code == ssh_failed) return of_ssh(address, ending.said);
  if (ending.exit_code == not_found || ending.exit_code == not_executable) {
    return trouble(Trouble::refused, address,
                   "trainwardctl was not found on that machine: " + reason_in(ending.said),
                   "`" + line_to_type(address, "'command -v trainwardctl'") +
                       "` must find it; where it lies elsewhere, add "
                       "?program=/path/to/trainwardctl to the address");
  }
  if (ending.exit_code == wrong_use && says(ending.said, {"unknown command 'connect'"})) {
    return trouble(Trouble::garbled, address,
                   "trainwardctl on that machine is of an older version and takes no connections",
                   "install the version there that is installed here");
  }
  const std::string end =
      ending.exit_code ? fmt::format("with status {}", *ending.exit_code) : "by a signal";
  return trouble(
      Trouble::refused, address,
      fmt::format("trainwardctl on that machine ended {}: {}", end, reason_in(ending.said)),
      "`" + line_to_type(address, "trainwardctl status") + "` may show more");
}

ClientError other_version(const Address& address, std::int64_t protocol,
                          const std::string& version) {
  return trouble(
      Trouble::garbled, address,
      fmt::format("trainwardctl on that machine (version {}) speaks another protocol ({})",
                  clean(version), protocol),
      "install the same version here and there");
}

ClientError not_in_time(const Address& address, std::chrono::milliseconds waited) {
  return trouble(
      Trouble::silent, address,
      fmt::format("no connection through ssh (waited {})", human_duration(waited.count())),
      "`" + line_to_type(address, "true") + "` shows what it waits for", ErrorKind::transient);
}

ClientError no_daemon(const Address& address, const std::string& socket, int error_number) {
  const std::string place = clean(socket);
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return trouble(Trouble::missing, address,
                     "trainwardd is not running on that machine: there is no " + place,
                     "start trainwardd there, or name its state folder: ssh://HOST/path/to/folder");
    case ECONNREFUSED:
      return trouble(Trouble::refused, address,
                     "trainwardd is not running on that machine: nobody listens at " + place,
                     "start trainwardd there again");
    case EACCES:
    case EPERM:
      return trouble(Trouble::denied, address,
                     "no permission to talk to trainwardd on that machine, at " + place,
                     "log in as the daemon's user, or as a member of the group that owns the "
                     "socket");
    default:
      return trouble(Trouble::silent, address,
                     fmt::format("trainwardd on that machine cannot be reached at {}: {}", place,
                                 std::generic_category().message(error_number)),
                     "try again; the daemon's log says more", ErrorKind::transient);
  }
}

}  // namespace trainward::ctl::remote
