// One crash rule, and the words its fields may hold.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/rules/log_matcher.hpp"

namespace trainward::rules {

struct Rule {
  std::string id;  // [a-z0-9-]{1,64}
  std::string crash_class;
  std::string match;  // RE2 syntax, searched anywhere in a line
  Transient transient = Transient::maybe;
  std::string remedy = "retry";
  std::string advice;
  bool enabled = true;
};

// benign disk firmware device_busy ethernet device_lost hang cache_corrupt device_oom host_oom
// config network data nan unknown
std::span<const std::string_view> crash_classes();

// none              nothing to do (benign lines)
// retry             start again, from the newest checkpoint
// back_off          wait longer and longer between attempts
// reset_board       reset the board, look at it again, then start again
// power_cycle       only taking the power away helps
// purge_cache       delete the cache of compiled kernels
// recompile         do not use stored programs on this platform
// shrink_plan       less memory per step: recompute, accumulate, smaller block
// free_space        delete old checkpoints and caches
// release_device    wait for, or end, the process that holds the device
// older_checkpoint  go back further than the newest checkpoint
// fetch_again       get the data anew
// fix_program       the program must change
// operator          a person must change the set-up
// replace_host      this host will not do it again; another may
std::span<const std::string_view> remedies();

}  // namespace trainward::rules
