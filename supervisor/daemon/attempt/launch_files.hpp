// launch.json of attempts that have ended keeps no secrets: what the worker was given in its
// environment and its arguments is removed once nothing needs it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/daemon/loop/background.hpp"

namespace trainward::daemon {

class LaunchFiles {
 public:
  LaunchFiles(Background& background, Paths paths);

  // The attempts of `program` below `end` have ended, and nothing will be started after their
  // pattern. Cheap when that is known. One that has just ended is shortened at once, for the daemon
  // may end with it; those of earlier daemons in the background, a few hundred at a time.
  void ended_below(const std::string& program, std::int64_t end);

 private:
  void shorten_all(const std::string& program, std::int64_t from, std::int64_t end);

  Background& background_;
  Paths paths_;
  std::map<std::string, std::int64_t> ended_;  // of each program: what was asked for
};

}  // namespace trainward::daemon
