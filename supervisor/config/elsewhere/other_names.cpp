#include "supervisor/config/elsewhere/other_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/settings/worker_settings.hpp"
#include "supervisor/config/elsewhere/hints.hpp"
#include "supervisor/config/elsewhere/key_names.hpp"
#include "supervisor/config/elsewhere/program_words.hpp"

namespace trainward::config {
namespace {

using Name = Counterpart;

// What other supervisors and launchers call it; supervisord's words are a table of their own
// (program_words.cpp).
constexpr std::array supervisors{
    Name{"redirect_stdout", "", "both streams are kept, each for itself"},
    Name{"env", "environment", ""},
    Name{"cwd", "directory", ""},
    Name{"working_directory", "directory", ""},
    Name{"args", "command", "the program and its arguments in one list"},
    Name{"script", "command", "as in [python3, train.py]"},
    Name{"cmd", "command", ""},
};

// Those that read_program() reads; config_test compares.
constexpr std::array<std::string_view, 30> program_keys{
    "autostart",     "autorestart",     "standby",       "command",        "directory",
    "environment",   "training_config", "device_config", "logging_config", "watch",
    "probe_command", "reset_command",   "board",         "checkpoints",    "deadlines",
    "budgets",       "backoff",         "plan",          "rollback",       "quarantine",
    "logs",          "steps",           "limits",        "user",           "group",
    "umask",         "stop_signal",     "exit_codes",    "upload",         "tracking"};

const Name* find_other(std::string_view key) {
  const auto* const name = std::ranges::find(supervisors, key, &Name::theirs);
  return name != supervisors.end() ? name : find_program_word(key);
}

// Of a key that is read where it belongs, and stands somewhere else.
std::string from_elsewhere(std::string_view key) {
  const elsewhere::Name* name = elsewhere::find_name(key);
  if (name == nullptr) return "";
  if (name->ours.find('.') != std::string_view::npos) {
    return fmt::format("here it is {}", name->ours);
  }
  return "it belongs to programs.NAME.training_config";
}

}  // namespace

std::string other_name(std::string_view key) {
  for (const settings::Setting& setting : settings::worker_settings) {
    if (setting.key == key) {
      return fmt::format("it belongs to programs.NAME.{}", setting.section);
    }
  }
  if (is_program_key(key)) return "it belongs to a program: programs.NAME." + std::string(key);
  if (std::string ours = from_elsewhere(key); !ours.empty()) return ours;
  if (std::string ours = elsewhere::hint_for(key); !ours.empty()) return ours;
  const Name* name = find_other(key);
  if (name == nullptr) return "";
  if (name->ours.empty()) return fmt::format("there is no such key here: {}", name->says);
  const std::string more = name->says.empty() ? "" : fmt::format(" ({})", name->says);
  return fmt::format("here it is {}{}", name->ours, more);
}

bool is_program_key(std::string_view key) {
  return std::find(program_keys.begin(), program_keys.end(), key) != program_keys.end();
}

}  // namespace trainward::config
