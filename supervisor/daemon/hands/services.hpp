// What the programs of one daemon share. Owned by Daemon, borrowed by each ProgramRunner.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/attempt/crash_rules.hpp"
#include "supervisor/daemon/attempt/machine.hpp"
#include "supervisor/daemon/base/console.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/daemon/loop/background.hpp"
#include "supervisor/daemon/loop/file_watcher.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/daemon/notify/news.hpp"
#include "supervisor/decide/session/turns.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

// Meshes of programs that wait for boards: the first to be placed leaves room for the others
// where that can be. On the loop's thread.
class MeshWishes {
 public:
  void wish(const std::string& program, const config::Mesh& mesh) { wishes_[program] = mesh; }
  void forget(const std::string& program) { wishes_.erase(program); }

  // In the order of their names.
  [[nodiscard]] std::vector<config::Mesh> of_others(const std::string& program) const {
    std::vector<config::Mesh> others;
    for (const auto& [name, mesh] : wishes_) {
      if (name != program) others.push_back(mesh);
    }
    return others;
  }

 private:
  std::map<std::string, config::Mesh> wishes_;
};

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
  News& news;
  MeshWishes mesh_wishes = {};
};

}  // namespace trainward::daemon
