// supervisorctl's shell: a command a line, until "exit" or the end of the input.
//
// At a terminal there are a prompt, editing, history and completion; it begins with `status`, and a
// command runs in a process of its own, so that Ctrl-C ends the command and not the shell.
// Otherwise lines are read from standard input, with neither prompt nor questions.
#pragma once

#include <functional>
#include <string>

#include "supervisor/ctl/base/context.hpp"

namespace trainward::ctl {

struct Shell {
  std::function<int(const Names& words)> run;         // one command; its exit code
  std::function<Names(const Names& words)> words_at;  // that may follow these
};

// The words of a line, parted at blanks; '…' and "…" hold blanks, # begins a comment. Kind usage: a
// quote that does not end.
Result<Names> words_of_line(const std::string& line);

// The exit code: 0 at a terminal, as supervisorctl has it; else that of the last command that
// failed.
int run_shell(const Shell& shell, Terminal& terminal);

}  // namespace trainward::ctl
