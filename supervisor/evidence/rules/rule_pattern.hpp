// How a rule's pattern is compiled: everywhere alike, or a checked pattern might fail later.
#pragma once

#include <re2/re2.h>

namespace trainward::rules {

// Latin-1: a pattern then matches bytes, and a log with broken UTF-8 is searched all the same.
// The memory bounds a pattern's automaton; past it RE2 searches more slowly, not with more memory.
inline RE2::Options pattern_options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  return options;
}

}  // namespace trainward::rules
