#include "supervisor/ctl/base/endpoint.hpp"

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "supervisor/config/config.hpp"

namespace trainward::ctl {
namespace {

constexpr std::size_t longest_file = 1 << 20;

// An INI file begins with a section; YAML of ours never does.
bool is_supervisords(const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = trim(take_line(rest));
    if (line.empty() || line.front() == ';' || line.front() == '#') continue;
    return line.front() == '[' && line.find(']') != std::string_view::npos;
  }
  return false;
}

}  // namespace

Status take_server(const std::string& text, Settings& settings) {
  constexpr std::string_view unix_scheme = "unix://";
  if (text.starts_with("ssh://")) {
    settings.host = text;
    return {};
  }
  const bool is_unix = text.starts_with(unix_scheme);
  if (is_unix || text.find("://") == std::string::npos) {
    settings.socket = is_unix ? text.substr(unix_scheme.size()) : text;
    return {};
  }
  return fail(ErrorKind::usage,
              "trainwardctl talks to a Unix socket, and to other machines through ssh", text,
              "name the socket with -s unix:///PATH; from elsewhere: --host ssh://HOST");
}

Status take_configuration(const std::filesystem::path& file, Settings& settings,
                          std::ostream& err) {
  const auto text = read_file(file, longest_file);
  if (text && is_supervisords(*text)) {
    err << "trainwardctl: " << clean(file.string())
        << " is a configuration of supervisord; it is not read\n";
    return {};
  }
  std::error_code error;
  auto config = config::load(file, std::filesystem::current_path(error));
  if (!config) {
    return fail(ErrorKind::usage, config.error().front().text(), "",
                "trainwardctl config check shows them all; --state-dir needs no configuration");
  }
  settings.state_dir = config->state_dir;
  settings.socket = config->socket;
  return {};
}

}  // namespace trainward::ctl
