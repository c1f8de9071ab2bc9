#include "supervisor/ctl/client/remote_address.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/base/percent.hpp"

namespace trainward::ctl::remote {
namespace {

constexpr std::string_view scheme = "ssh://";
constexpr std::string_view shape = "write ssh://[user@]host[:port][/path/to/state/folder]";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool made_of(std::string_view text, std::string_view further) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter_or_digit(c) || further.find(c) != std::string_view::npos;
  });
}

tl::unexpected<Error> wrong(std::string what, std::string_view text) {
  return fail(ErrorKind::usage, std::move(what), std::string(text), std::string(shape));
}

// ssh hands host and user on to commands of its configuration (ProxyCommand, Match exec), some of
// which a shell reads: only what is a plain name gets there.
bool is_name(std::string_view text, std::string_view further) {
  return !text.empty() && text.front() != '-' && made_of(text, further);
}

bool is_host(std::string_view text) {
  if (text.starts_with('[')) {
    return text.size() > 4 && text.ends_with(']') && text[1] != '-' &&
           text.find(':') != std::string_view::npos &&
           made_of(text.substr(1, text.size() - 2), ":.");
  }
  return is_name(text, "._-");
}

bool is_plain_path(std::string_view path) {
  return std::none_of(path.begin(), path.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// "host", "host:22", "[::1]:22"
Status read_host_and_port(std::string_view text, Address& address) {
  const auto bracket = text.rfind(']');
  const auto colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  std::string_view host = text.substr(0, colon);
  if (!is_host(host)) return wrong("is no name of a host", text);
  if (host.front() == '[') host = host.substr(1, host.size() - 2);
  address.host = host;
  if (colon == std::string_view::npos) return {};
  const std::string_view digits = text.substr(colon + 1);
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, address.port);
  if (parsed.ec != std::errc() || parsed.ptr != end || address.port < 1 || address.port > 65535) {
    return wrong("is no port", digits);
  }
  return {};
}

Status read_program(std::string_view query, Address& address) {
  constexpr std::string_view key = "program=";
  if (!query.starts_with(key)) {
    return wrong("'?' is followed by program=/path/to/trainwardctl", query);
  }
  const auto program = percent_decoded(query.substr(key.size()));
  if (!program || !program->starts_with('/') || !made_of(*program, "/._+@,=-")) {
    return fail(ErrorKind::usage, "is no absolute path of plain characters", std::string(query),
                "write ?program=/path/to/trainwardctl");
  }
  address.program = *program;
  return {};
}

}  // namespace

std::string Address::text() const {
  std::string text(scheme);
  if (!user.empty()) text += user + "@";
  text += host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != 0) text += fmt::format(":{}", port);
  return text + (place.starts_with('~') ? "/" : "") + place;
}

Result<Address> read_address(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with(scheme)) rest.remove_prefix(scheme.size());
  if (rest.find("://") != std::string_view::npos) {
    return wrong("another machine is only reached through ssh", text);
  }
  Address address;
  if (const auto query = rest.find('?'); query != std::string_view::npos) {
    if (auto read = read_program(rest.substr(query + 1), address); !read) return propagate(read);
    rest = rest.substr(0, query);
  }
  const auto slash = rest.find('/');
  std::string_view who = rest.substr(0, slash);
  if (slash != std::string_view::npos && slash + 1 < rest.size()) {
    const auto path = percent_decoded(rest.substr(slash));
    if (!path || !is_plain_path(*path)) return wrong("is no path", rest.substr(slash));
    address.place = path->starts_with("/~") ? path->substr(1) : *path;
    if (address.place.starts_with('~') && address.place != "~" &&
        !address.place.starts_with("~/")) {
      return wrong("only /~/ is a home folder, that of the user of the connection", *path);
    }
  }
  if (const auto at = who.rfind('@'); at != std::string_view::npos) {
    address.user = who.substr(0, at);
    // The name of a domain may stand behind the user's.
    if (!is_name(address.user, "._+@-")) return wrong("is no name of a user", address.user);
    who.remove_prefix(at + 1);
  }
  if (auto read = read_host_and_port(who, address); !read) return propagate(read);
  return address;
}

std::vector<std::string> ssh_arguments(const Address& address, bool may_ask) {
  // Whatever the user's configuration forwards or runs for this host belongs to logins: here it
  // would listen, fail because another connection listens, or take the command's place.
  std::vector<std::string> words{
      "-T", "-a", "-x", "-o", "ClearAllForwardings=yes", "-o", "RemoteCommand=none"};
  if (!may_ask) words.insert(words.end(), {"-o", "BatchMode=yes"});
  if (address.port != 0) words.insert(words.end(), {"-p", std::to_string(address.port)});
  if (!address.user.empty()) words.insert(words.end(), {"-l", address.user});
  const std::string program =
      address.program.empty() ? "trainwardctl" : "'" + address.program + "'";
  words.insert(words.end(), {"--", address.host, program + " connect"});
  return words;
}

std::string line_to_type(const Address& address, std::string_view command) {
  std::string line = "ssh ";
  if (address.port != 0) line += fmt::format("-p {} ", address.port);
  if (!address.user.empty()) line += address.user + "@";
  line += address.host;
  return command.empty() ? line : line + " " + std::string(command);
}

}  // namespace trainward::ctl::remote
