// cache: what its commands have in common on the command line.
#include "supervisor/ctl/base/cli.hpp"

namespace trainward::ctl {

void add_cache(Cli& cli) { cli.group("cache", "compiled programs: list, verify, prune, clear"); }

}  // namespace trainward::ctl
