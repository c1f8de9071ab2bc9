// Where the daemon is, as supervisorctl's options say it: -s with a URL, -c with a configuration.
#pragma once

#include <filesystem>
#include <string>

#include "supervisor/ctl/base/context.hpp"

namespace trainward::ctl {

// Takes -s: a path, "unix:///PATH", or "ssh://…" for another machine. Kind usage for another URL:
// trainwardctl talks to nobody over a network.
Status take_server(const std::string& text, Settings& settings);

// Takes state folder and socket from a configuration of trainwardd. supervisord's own file, which
// its scripts name, is left out with a word on stderr.
Status take_configuration(const std::filesystem::path& file, Settings& settings, std::ostream& err);

}  // namespace trainward::ctl
