// One program of supervisord's as an entry of `programs:`. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "supervisor/config/import/ini.hpp"
#include "supervisor/config/import/supervisord.hpp"

namespace trainward::config {

// The table of words: what a key of [program:x] becomes here, or why it becomes nothing.
struct ProgramWord {
  std::string_view theirs;
  std::string_view ours;  // empty: no such key
  std::string_view why;   // of one without, or that needs a word
};
const ProgramWord* find_program_word(std::string_view key);

struct ProgramEntry {
  std::string name;
  long priority = 999;             // supervisord's: lower ones start first
  std::vector<std::string> lines;  // below the name, without indentation
  std::size_t comments = 0;
  std::string refused = {};  // why it cannot be taken over; empty: it is
};

// As many as numprocs says. `shared`: the environment of [supervisord].
std::vector<ProgramEntry> program_entries(const IniSection& section, const std::string& shared,
                                          const ImportFrom& from);

// "TRUE", "on", "1" and their opposites; nothing for anything else.
std::optional<bool> ini_boolean(std::string_view text);

}  // namespace trainward::config
