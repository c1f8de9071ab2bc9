#include <algorithm>
#include <array>
#include <cctype>

#include "common/base/text.hpp"
#include "supervisor/config/import/program_entry.hpp"

namespace trainward::config {
namespace {

constexpr std::string_view logs_elsewhere =
    "logs lie in STATE_DIR/runs/NAME/attempts; 'trainwardctl tail NAME' shows them";
constexpr std::string_view ends_together = "whatever a program started always ends with it";
constexpr std::string_view no_events = "'trainwardctl events' has what happens";

constexpr std::array program_words{
    ProgramWord{"command", "command", ""},
    ProgramWord{"directory", "directory", ""},
    ProgramWord{"environment", "environment", ""},
    ProgramWord{"autostart", "autostart", ""},
    ProgramWord{"autorestart", "autorestart", ""},
    ProgramWord{"stopwaitsecs", "deadlines.stop", "with a unit, as in 10s"},
    ProgramWord{"startretries", "budgets.attempts_without_progress", ""},
    ProgramWord{"stdout_logfile_maxbytes", "logs.max_size", ""},
    ProgramWord{"stderr_logfile_maxbytes", "logs.max_size", ""},
    ProgramWord{"stdout_logfile_backups", "logs.keep", ""},
    ProgramWord{"stderr_logfile_backups", "logs.keep", ""},
    ProgramWord{"numprocs", "programs", "write a program for each"},
    ProgramWord{"numprocs_start", "programs", "write a program for each"},
    ProgramWord{"process_name", "programs", "the key of the entry is its name"},
    ProgramWord{"priority", "programs", "all start together"},
    ProgramWord{"startsecs", "", "an attempt is judged by its steps, not by how long it lived"},
    ProgramWord{"exitcodes", "exit_codes", "a list, as in [0, 2]"},
    ProgramWord{"stopsignal", "stop_signal", ""},
    ProgramWord{"stopasgroup", "", ends_together},
    ProgramWord{"killasgroup", "", ends_together},
    ProgramWord{"user", "user", ""},
    ProgramWord{"umask", "umask", ""},
    ProgramWord{"redirect_stderr", "", "both streams are kept, each for itself"},
    ProgramWord{"stdout_logfile", "", logs_elsewhere},
    ProgramWord{"stderr_logfile", "", logs_elsewhere},
    ProgramWord{"stdout_capture_maxbytes", "", no_events},
    ProgramWord{"stderr_capture_maxbytes", "", no_events},
    ProgramWord{"stdout_events_enabled", "", no_events},
    ProgramWord{"stderr_events_enabled", "", no_events},
    ProgramWord{"stdout_syslog", "", logs_elsewhere},
    ProgramWord{"stderr_syslog", "", logs_elsewhere},
    ProgramWord{"serverurl", "", "programs are given TRAINWARD_* variables instead"},
};

}  // namespace

const ProgramWord* find_program_word(std::string_view key) {
  const auto* const found = std::find_if(program_words.begin(), program_words.end(),
                                         [&](const auto& word) { return word.theirs == key; });
  return found == program_words.end() ? nullptr : found;
}

std::optional<bool> ini_boolean(std::string_view text) {
  const std::string word = upper_case(text);
  for (const char* yes : {"TRUE", "YES", "ON", "1", "T", "Y"}) {
    if (word == yes) return true;
  }
  for (const char* no : {"FALSE", "NO", "OFF", "0", "F", "N"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

}  // namespace trainward::config
