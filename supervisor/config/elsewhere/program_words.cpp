#include "supervisor/config/elsewhere/program_words.hpp"

#include <algorithm>
#include <array>

#include "common/base/text.hpp"

namespace trainward::config {
namespace {

constexpr std::string_view logs_elsewhere =
    "logs lie in STATE_DIR/runs/NAME/attempts; 'trainwardctl tail NAME' shows them";
constexpr std::string_view ends_together = "whatever a program started always ends with it";
constexpr std::string_view no_events = "'trainwardctl events' has what happens";

constexpr std::array program_words{
    Counterpart{"command", "command", ""},
    Counterpart{"directory", "directory", ""},
    Counterpart{"environment", "environment", ""},
    Counterpart{"autostart", "autostart", ""},
    Counterpart{"autorestart", "autorestart", ""},
    Counterpart{"stopwaitsecs", "deadlines.stop", "with a unit, as in 10s"},
    Counterpart{"startretries", "budgets.attempts_without_progress", ""},
    Counterpart{"stdout_logfile_maxbytes", "logs.max_size", ""},
    Counterpart{"stderr_logfile_maxbytes", "logs.max_size", ""},
    Counterpart{"stdout_logfile_backups", "logs.keep", ""},
    Counterpart{"stderr_logfile_backups", "logs.keep", ""},
    Counterpart{"numprocs", "programs", "write a program for each"},
    Counterpart{"numprocs_start", "programs", "write a program for each"},
    Counterpart{"process_name", "programs", "the key of the entry is its name"},
    Counterpart{"priority", "programs", "all start together"},
    Counterpart{"startsecs", "", "an attempt is judged by its steps, not by how long it lived"},
    Counterpart{"exitcodes", "exit_codes", "a list, as in [0, 2]"},
    Counterpart{"stopsignal", "stop_signal", ""},
    Counterpart{"stopasgroup", "", ends_together},
    Counterpart{"killasgroup", "", ends_together},
    Counterpart{"user", "user", ""},
    Counterpart{"umask", "umask", ""},
    Counterpart{"redirect_stderr", "", "both streams are kept, each for itself"},
    Counterpart{"stdout_logfile", "", logs_elsewhere},
    Counterpart{"stderr_logfile", "", logs_elsewhere},
    Counterpart{"stdout_capture_maxbytes", "", no_events},
    Counterpart{"stderr_capture_maxbytes", "", no_events},
    Counterpart{"stdout_events_enabled", "", no_events},
    Counterpart{"stderr_events_enabled", "", no_events},
    Counterpart{"stdout_syslog", "", logs_elsewhere},
    Counterpart{"stderr_syslog", "", logs_elsewhere},
    Counterpart{"serverurl", "", "programs are given TRAINWARD_* variables instead"},
};

}  // namespace

const Counterpart* find_program_word(std::string_view key) {
  const auto* const found = std::find_if(program_words.begin(), program_words.end(),
                                         [&](const auto& word) { return word.theirs == key; });
  return found == program_words.end() ? nullptr : found;
}

}  // namespace trainward::config
