// --host: from the command line to a connection.
#pragma once

#include <optional>
#include <string_view>

#include "supervisor/ctl/client/source.hpp"

namespace trainward::ctl::remote {

// Whether a command asks the daemon alone, and nothing of the machine it is typed on.
bool asks_the_daemon(std::string_view verb);

// Connects `settings` to their host, or says why not: also of a command that is about this
// machine's files. Where somebody sits at a terminal, ssh may ask for a password, so this goes
// before anything is drawn.
std::optional<Failure> reach(Settings& settings, std::string_view verb, const Terminal& terminal);

}  // namespace trainward::ctl::remote
