#include "supervisor/config/launch_environment.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace trainward::config {
namespace {

namespace fs = std::filesystem;

// About the daemon, and not about the worker.
bool is_of_the_daemon(std::string_view name) {
  return name == "NOTIFY_SOCKET" || name == "WATCHDOG_USEC" || name == "WATCHDOG_PID" ||
         name == "JOURNAL_STREAM" || name == "INVOCATION_ID" || name == "SYSTEMD_EXEC_PID" ||
         name.starts_with("LISTEN_") || name.starts_with("TRAINWARD_");
}

// About the user that the daemon runs as, and of no use, or none of its business, to another.
bool is_of_its_user(std::string_view name) {
  constexpr std::array<std::string_view, 6> names{
      "MAIL", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "DBUS_SESSION_BUS_ADDRESS"};
  return std::find(names.begin(), names.end(), name) != names.end() || name.starts_with("XDG_") ||
         name.starts_with("SUDO_");
}

bool is_runnable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) &&
         ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

}  // namespace

Environment environment_from(const char* const* variables) {
  Environment out;
  for (; *variables != nullptr; ++variables) {
    const std::string_view text(*variables);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      out.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return out;
}

Environment without_withheld(const Program& program, Environment daemon) {
  std::erase_if(daemon, [&](const auto& one) { return program.withheld.contains(one.first); });
  return daemon;
}

Environment inherited_by(const Program& program, const Environment& daemon) {
  Environment out;
  for (const auto& [name, value] : daemon) {
    if (is_of_the_daemon(name) || program.withheld.contains(name) ||
        (program.user && is_of_its_user(name)))
      continue;
    out.emplace(name, value);
  }
  if (!program.user) return out;
  const User& user = *program.user;
  out["USER"] = user.name;
  out["LOGNAME"] = user.name;
  out["HOME"] = user.home.empty() ? "/" : user.home;
  out["SHELL"] = user.shell.empty() ? "/bin/sh" : user.shell;
  return out;
}

Environment environment_of(const Program& program, const foreign::Values& values,
                           const Environment& daemon) {
  Environment out = inherited_by(program, daemon);
  for (const auto& [name, value] : program.environment) out[name] = value.fill(values).text;
  // A program that keeps its output back looks hung.
  if (!program.command.empty()) out.emplace("PYTHONUNBUFFERED", "1");
  return out;
}

fs::path program_file(const std::string& name, std::string_view search, const fs::path& directory) {
  if (name.find('/') != std::string::npos) {
    auto path = (directory / name).lexically_normal();
    return is_runnable(path) ? path : fs::path();
  }
  for (std::size_t at = 0; at <= search.size();) {
    const auto end = std::min(search.find(':', at), search.size());
    auto path = directory / search.substr(at, end - at) / name;
    if (is_runnable(path)) return path.lexically_normal();
    at = end + 1;
  }
  return {};
}

}  // namespace trainward::config
