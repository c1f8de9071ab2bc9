// What a worker finds when it starts: its variables, and which file its command is.
//
// One truth for the daemon, which starts it, and for the code that shows what would be started.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/config/config.hpp"

namespace trainward::config {

using Environment = std::map<std::string, std::string>;

// Of an environment as the kernel has it, NAME=VALUE each.
Environment environment_from(const char* const* variables);

// Without what is nobody's but the daemon's and its courier's: also a shim's.
Environment without_withheld(const Program& program, Environment daemon);

// Of the daemon's variables those that a worker inherits: not what is about the daemon itself, and
// for a program with a user of its own not what is about the daemon's user. That program has HOME,
// USER, LOGNAME and SHELL of its user, as a login has.
Environment inherited_by(const Program& program, const Environment& daemon);

// With the program's own variables over it, whose names are filled in from `values`.
Environment environment_of(const Program& program, const foreign::Values& values,
                           const Environment& daemon);

// The file that starts when `name` is a command's first word, by `search` (a PATH) from
// `directory`; empty when there is no program that this thread (ActingAs) may execute.
std::filesystem::path program_file(const std::string& name, std::string_view search,
                                   const std::filesystem::path& directory);

// Where compiled programs of this program lie: under this name in the state folder of the program,
// or, when it is empty, together with those of all. A program with a user of its own shares
// nothing, since others would execute what it has written.
inline std::string own_cache(const Program& program) { return program.user ? program.name : ""; }

// In whose name the daemon does what it does in the program's folders.
inline std::optional<Credentials> user_of(const Program& program) {
  return program.user ? std::optional(program.user->credentials) : std::nullopt;
}

}  // namespace trainward::config
