// What the programs of one daemon share. Owned by Daemon, borrowed by each ProgramRunner.
#pragma once

#include "supervisor/daemon/background.hpp"
#include "supervisor/daemon/console.hpp"
#include "supervisor/daemon/crash_rules.hpp"
#include "supervisor/daemon/file_watcher.hpp"
#include "supervisor/daemon/loop.hpp"
#include "supervisor/daemon/machine.hpp"
#include "supervisor/daemon/mesh_wishes.hpp"
#include "supervisor/daemon/paths.hpp"
#include "supervisor/daemon/turns.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::daemon {

struct Services {
  Loop& loop;
  Paths paths;
  store::Store& store;
  Turns& turns;
  CrashRules& crash_rules;
  Machine& machine;
  FileWatcher& watcher;
  Background& background;
  Console& console;
  MeshWishes mesh_wishes = {};
};

}  // namespace trainward::daemon
