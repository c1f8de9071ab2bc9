// Where the daemon's own log goes: stderr in a terminal or container, journald under systemd.
#pragma once

#include <string_view>

namespace trainward {

enum class LogTarget { automatic, standard_error, journald };

// `automatic` picks journald when stderr is connected to it ($JOURNAL_STREAM), stderr otherwise.
// Called once by main() before any other thread exists. Level: trace debug info warning error.
void set_up_logging(std::string_view program, LogTarget target, std::string_view level);

}  // namespace trainward
