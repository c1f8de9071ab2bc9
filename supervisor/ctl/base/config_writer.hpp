// A configuration that a command makes for its user: printed, or written and checked.
#pragma once

#include <filesystem>
#include <string>

#include "supervisor/ctl/base/context.hpp"

namespace trainward::ctl {

struct MadeConfig {
  std::filesystem::path file;  // "-": is printed
  std::string text;
  unsigned mode = 0644;
  bool force = false;     // replaces what is there
  std::string said = {};  // behind "FILE: written" on the screen, such as ", 2 programs"
};

// Writes, then reads it as the daemon will and shows what that says. The exit code: 1 when it was
// not written, or the daemon would refuse it.
int hand_over(const Context& context, const MadeConfig& made);

}  // namespace trainward::ctl
