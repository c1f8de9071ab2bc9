// INI as supervisord reads it: sections, "key = value" or "key: value", values that go on in
// indented lines, comments behind ; and #. Keys are lower case; of two equal ones the last counts,
// and sections of one name are one.
//
// Pure. In: text from a stranger, at most 1 MiB and 10,000 entries. Nothing it names is opened.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::config {

struct IniEntry {
  std::string key;
  std::string value;  // its lines joined by '\n', without comments
};

struct IniSection {
  std::string name;
  std::vector<IniEntry> entries;  // in the order of the file

  [[nodiscard]] const std::string* find(std::string_view key) const;
};

// Kind usage, with the line in `what`: no section yet, neither a section nor a key, too long.
Result<std::vector<IniSection>> parse_ini(std::string_view text);

}  // namespace trainward::config
