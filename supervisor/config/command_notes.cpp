// What of a command would only show when it is started, or only in what it then does: a program or
// script that is not there, a word that looks as if a shell were to read it. None of it is an
// error, since the file may come, or lie on another machine.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "supervisor/config/launch_environment.hpp"
#include "supervisor/config/sections.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_pattern.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_step.hpp"

namespace trainward::config {
namespace {

namespace fs = std::filesystem;
using foreign::Template;

// What stands there whatever the attempt; nothing when a name is filled in.
std::optional<std::string> literal(const Template& word) {
  const auto names = foreign::launch_names();
  if (std::any_of(names.begin(), names.end(),
                  [&](std::string_view name) { return word.names(name); })) {
    return std::nullopt;
  }
  return word.fill({}).text;
}

// As the worker will look for it.
std::string missing_program(const std::string& name, const Program& program) {
  std::string search(variable("PATH"));
  if (const auto own = program.environment.find("PATH"); own != program.environment.end()) {
    search = literal(own->second).value_or(search);
  }
  const ActingAs acting(user_of(program));  // who may see less than root
  if (!program_file(name, search, program.directory).empty()) return "";
  if (name.find('/') == std::string::npos) {
    return fmt::format("no program '{}' in PATH ({})", name, search);
  }
  const auto path = (program.directory / name).lexically_normal();
  std::error_code error;
  return (fs::exists(path, error) ? "not a file that may be executed: " : "no such program: ") +
         path.string();
}

bool interprets(const std::string& program) {
  constexpr std::array<std::string_view, 6> names{"python",     "pypy",      "torchrun",
                                                  "accelerate", "deepspeed", "mpi"};
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return program.starts_with(name); });
}

bool is_shell(const std::string& program) {
  constexpr std::array<std::string_view, 5> names{"sh", "bash", "dash", "zsh", "ksh"};
  return std::find(names.begin(), names.end(), program) != names.end();
}

// The first argument that is a script by its name, which is not there.
std::string missing_script(const std::vector<std::string>& words, const Program& program) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-c" || words[i] == "-m" || words[i] == "--module") return "";
    const auto extension = fs::path(words[i]).extension();
    if (words[i].starts_with('-') || (extension != ".py" && extension != ".sh")) continue;
    const auto path = (program.directory / words[i]).lexically_normal();
    std::error_code error;
    return fs::exists(path, error) ? "" : "no such script: " + path.string();
  }
  return "";
}

// A pattern that is one folder, in which there are several that look like checkpoints.
bool holds_checkpoints(const foreign::Pattern& pattern) {
  fs::path folder = pattern.base;
  for (const std::string& part : pattern.parts) {
    if (foreign::has_wildcard(part)) return false;
    folder /= part;
  }
  bool found = false;
  foreign::each_entry(folder, "*", [&](const std::string& name) {
    std::error_code error;
    found = found || (foreign::step_in_name(name) && fs::is_directory(folder / name, error));
  });
  return found;
}

// Why a pattern of checkpoints never matches as it is written, or with what lies there now.
std::string why_no_match(const std::string& glob, const Program& program) {
  if (auto doubt = foreign::doubt_of_glob(glob); !doubt.empty()) return doubt;
  const foreign::Pattern pattern = foreign::pattern_of(glob, {program.directory, {}});
  fs::path folder = pattern.base;
  for (std::size_t i = 0; i + 1 < pattern.parts.size() && !folder.empty(); ++i) {
    if (foreign::has_wildcard(pattern.parts[i])) break;
    folder /= pattern.parts[i];
    std::error_code error;
    if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
      return folder.string() + " is no folder";
    }
  }
  return "";
}

bool for_a_shell(const std::string& word) {
  if (word.starts_with("~/")) return true;
  const auto dollar = word.find('$');
  if (dollar == std::string::npos || dollar + 1 >= word.size()) return false;
  const auto next = static_cast<unsigned char>(word[dollar + 1]);
  return next == '{' || next == '_' || std::isalpha(next) != 0;
}

}  // namespace

void note_command(const yaml::Node& command, const Program& program, const Folders& folders) {
  if (folders.notes == nullptr) return;
  const auto note = [&](std::string_view key, std::string_view message) {
    folders.notes->push_back(
        {command.mark, fmt::format("programs.{}.{}: {}", program.name, key, message)});
  };
  std::vector<std::string> words;
  for (const foreign::Argument& argument : program.command) {
    for (const Template& word : argument.words) words.push_back(literal(word).value_or(""));
  }
  // Without its value, which may be a secret, and this may go to a log.
  for (const auto& [name, value] : program.environment) {
    if (!for_a_shell(literal(value).value_or(""))) continue;
    note("environment." + name, "its '$' or '~' is passed as it is, since no shell reads it");
  }
  for (const std::string& glob : program.watch.checkpoints) {
    if (const auto why = why_no_match(glob, program); !why.empty()) {
      note("watch.checkpoints", fmt::format("'{}' never matches: {}", glob, why));
    } else if (holds_checkpoints(foreign::pattern_of(glob, {program.directory, {}}))) {
      note("watch.checkpoints",
           fmt::format("'{}' is one checkpoint as a whole; for each folder in "
                       "it write '{}/*'",
                       glob, std::string_view(glob).substr(0, glob.find_last_not_of('/') + 1)));
    }
  }
  if (words.empty() || words.front().empty()) return;
  const std::string name = fs::path(words.front()).filename().string();
  if (const auto missing = missing_program(words.front(), program); !missing.empty()) {
    note("command", missing);
  }
  if (is_shell(name) || interprets(name)) {
    if (const auto missing = missing_script(words, program); !missing.empty()) {
      note("command", missing);
    }
  }
  if (is_shell(name)) return;
  for (const std::string& word : words) {
    if (!for_a_shell(word)) continue;
    note("command", fmt::format("'{}' is passed as it is, since no shell reads it", word));
  }
}

}  // namespace trainward::config
