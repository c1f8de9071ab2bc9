// The command line: options and verbs to one call of a command.
#pragma once

#include <string>
#include <vector>

#include "supervisor/ctl/base/context.hpp"

namespace trainward::ctl {

// `arguments` without the program's name. Runs the command and returns its exit code; an unknown
// verb or a wrong option is exit code 2 with the nearest valid word. `default_state_dir` stands in
// for --state-dir; `--no-color` takes the terminal's colours away.
int run(std::vector<std::string> arguments, const std::filesystem::path& default_state_dir,
        Terminal& terminal);

}  // namespace trainward::ctl
