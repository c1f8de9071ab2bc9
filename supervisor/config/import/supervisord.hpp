// supervisord's configuration in our words: what `trainwardctl config import` writes.
//
// Pure. What has no counterpart here is said as a comment where it stood, never left out in
// silence; passwords are. Files that are included are named, not opened.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::config {

struct ImportFrom {
  std::string file;  // for the first line
  std::string here;  // the file's folder: %(here)s
  std::string host;  // %(host_node_name)s
  std::function<std::optional<std::string>(const std::string&)> variable;  // %(ENV_NAME)s
  // Whether variables that look like secrets are written too. Only for a file that nobody else may
  // read; elsewhere a comment names them.
  bool with_secrets = false;
};

struct Imported {
  std::string yaml;
  std::size_t programs = 0;
  std::size_t comments = 0;               // lines that say what is different
  std::vector<std::string> refused = {};  // programs that are not in it, and why
};

// Kind usage: not an INI file, or no program in it that can be taken over.
Result<Imported> import_supervisord(std::string_view ini, const ImportFrom& from);

}  // namespace trainward::config
