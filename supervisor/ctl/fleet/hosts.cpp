#include "supervisor/ctl/fleet/hosts.hpp"

#include "common/base/text.hpp"

namespace trainward::ctl::fleet {
namespace {

// "#" inside a word is a part of it.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins_a_word = i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t';
    if (line[i] == '#' && begins_a_word) return line.substr(0, i);
  }
  return line;
}

Result<Host> read_host(std::string_view text) {
  constexpr std::string_view unix_scheme = "unix://";
  constexpr std::string_view ssh_scheme = "ssh://";
  if (text.starts_with(unix_scheme)) {
    const std::string socket(text.substr(unix_scheme.size()));
    if (!socket.starts_with('/')) {
      return fail(ErrorKind::usage, "is no absolute path of a socket", std::string(text),
                  "write unix:///path/to/trainward.sock");
    }
    return Host{std::string(text), std::nullopt, socket};
  }
  auto address = remote::read_address(text);
  if (!address) return propagate(address);
  if (text.starts_with(ssh_scheme)) text.remove_prefix(ssh_scheme.size());
  return Host{std::string(text.substr(0, text.find('?'))), std::move(*address), ""};
}

}  // namespace

Result<std::vector<Host>> read_hosts(std::string_view text, const std::string& file) {
  std::vector<Host> hosts;
  int number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    ++number;
    const std::string_view line = trim(without_comment(take_line(rest)));
    if (line.empty()) continue;
    auto host = read_host(line);
    if (!host) {
      const Error& error = host.error();
      return fail(ErrorKind::usage, error.where + " " + error.what,
                  fmt::format("{}:{}", file, number), error.hint);
    }
    hosts.push_back(std::move(*host));
  }
  if (hosts.empty()) {
    return fail(ErrorKind::usage, "names no machine", file,
                "write a line for each: ssh://[user@]host[:port][/path/to/state/folder]");
  }
  return hosts;
}

}  // namespace trainward::ctl::fleet
