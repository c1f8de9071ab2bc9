// The screen's life: keys and signals in, pictures out, until somebody ends it.
#pragma once

#include <string>

#include "supervisor/ctl/base/context.hpp"

namespace trainward::ctl::live {

struct LoopOptions {
  std::string program;  // selected at first; empty: the first there is
  bool colour = true;
  bool ascii = false;
};

// Takes the terminal over and gives it back. Returns the exit code: 0, or 128 and the number of the
// signal that ended it.
int run_screen(const Context& context, const LoopOptions& options);

}  // namespace trainward::ctl::live
