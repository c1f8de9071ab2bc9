// ckpt: what its commands have in common on the command line.
#include "supervisor/ctl/base/cli.hpp"

namespace trainward::ctl {

void add_ckpt(Cli& cli) {
  cli.group("ckpt", "checkpoints: list, show, verify, compare, copy, keep");
}

}  // namespace trainward::ctl
