// A start that touches nothing: whether this program would get as far as supervising, asked of it
// before it takes the place of the one that does. That one is gone once it has executed this one.
#pragma once

#include <string>
#include <string_view>

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/daemon.hpp"

namespace trainward::daemon {

// Reads the state that is to be taken over, then starts a daemon with this configuration and none
// of its programs in a folder of its own under TMPDIR, turns its loop, and ends it. What a program
// that merely says yes does not do.
Status rehearse_start(const Options& options, const config::Config& config);

// The answer when it went well, to a caller with this number: only a process with code to make it
// can say it.
std::string ready_word(std::string_view number);

}  // namespace trainward::daemon
