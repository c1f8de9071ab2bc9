// What many machines answered, as one table under one headline, or as one document.
#pragma once

#include <string>
#include <vector>

#include "supervisor/ctl/base/context.hpp"
#include "supervisor/ctl/fleet/ask.hpp"

namespace trainward::ctl::fleet {

// Of `names`, or of all programs if `names` is empty. A machine that did not answer is a row with
// the reason. Returns the worst of the exit codes that `status` has for each machine alone.
int show(const Context& context, std::vector<HostAnswer> answers, const Names& names);

}  // namespace trainward::ctl::fleet
