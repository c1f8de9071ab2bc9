// Where the daemon is, as supervisorctl's options say it: -s with a URL, -c with a configuration.
#pragma once

#include <filesystem>
#include <string>

#include "supervisor/ctl/context.hpp"

namespace trainward::ctl {

// A path, or "unix:///PATH". Kind usage for another URL: trainwardd listens on no network.
Result<std::filesystem::path> socket_in(const std::string& text);

// Takes state folder and socket from a configuration of trainwardd. supervisord's own file, which
// its scripts name, is left out with a word on stderr.
Status take_configuration(const std::filesystem::path& file, Settings& settings, std::ostream& err);

}  // namespace trainward::ctl
