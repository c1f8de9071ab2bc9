// What the programs of one daemon share. Owned by Daemon, borrowed by each ProgramRunner.
#pragma once

#include "supervisor/daemon/attempt/crash_rules.hpp"
#include "supervisor/daemon/attempt/machine.hpp"
#include "supervisor/daemon/boards/mesh_wishes.hpp"
#include "supervisor/daemon/console.hpp"
#include "supervisor/daemon/loop/background.hpp"
#include "supervisor/daemon/loop/file_watcher.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/daemon/paths.hpp"
#include "supervisor/session/turns.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::daemon {

struct Services {
  Loop& loop;
  Paths paths;
  store::Store& store;
  session::Turns& turns;
  CrashRules& crash_rules;
  Machine& machine;
  FileWatcher& watcher;
  Background& background;
  Console& console;
  MeshWishes mesh_wishes = {};
};

}  // namespace trainward::daemon
