// notify: what its commands have in common on the command line.
#include "supervisor/ctl/base/cli.hpp"

namespace trainward::ctl {

void add_notify(Cli& cli) { cli.group("notify", "messages to people: test the channels, list"); }

}  // namespace trainward::ctl
