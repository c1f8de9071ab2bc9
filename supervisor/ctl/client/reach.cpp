#include "supervisor/ctl/client/reach.hpp"

#include <algorithm>
#include <array>

#include "supervisor/ctl/client/ssh_connection.hpp"

namespace trainward::ctl::remote {
namespace {

// A command that is not among them looks at files, which are this machine's.
constexpr std::array<std::string_view, 26> for_any_host{
    "status", "start",   "stop",   "restart", "signal",   "tail",   "maintail", "clear",  "pid",
    "reread", "update",  "avail",  "add",     "remove",   "reload", "upgrade",  "top",    "version",
    "why",    "history", "report", "events",  "shutdown", "boards", "probe",    "metrics"};

constexpr std::chrono::seconds for_ssh{30};
constexpr std::chrono::minutes for_a_password{2};

}  // namespace

bool asks_the_daemon(std::string_view verb) {
  return std::find(for_any_host.begin(), for_any_host.end(), verb) != for_any_host.end();
}

std::optional<Failure> reach(Settings& settings, std::string_view verb, const Terminal& terminal) {
  auto address = read_address(settings.host);
  if (!address) return Failure{exit_status::usage, std::move(address.error())};
  if (!asks_the_daemon(verb)) {
    return Failure{
        exit_status::usage,
        {ErrorKind::usage,
         fmt::format("'{}' is about the machine it is typed on, not about a daemon", verb), "",
         "type it there: " + line_to_type(*address, fmt::format("trainwardctl {} …", verb))}};
  }
  const bool may_ask = terminal.in_is_terminal || terminal.err_width;
  settings.connection = std::make_shared<Connection>(std::move(*address), may_ask);
  const auto patience = may_ask ? std::chrono::milliseconds(for_a_password) : for_ssh;
  if (auto reached = settings.connection->wait(patience); !reached) {
    return failure_of(reached.error());
  }
  return std::nullopt;
}

}  // namespace trainward::ctl::remote
