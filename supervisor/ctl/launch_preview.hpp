// What would be started next of a program: the command with what is known now, the file that it
// runs, directory, user, limits, environment and watch.
#pragma once

#include "common/base/json/json.hpp"
#include "supervisor/config/config.hpp"

namespace trainward::ctl {

// As `config show --json` prints it (docs/cli.md). Secrets are left out; the environment of a
// running daemon is told where it may be read. Reads /proc and the socket's peer.
json::object launch_preview(const config::Config& config, const config::Program& program);

}  // namespace trainward::ctl
