// The meshes that programs of this daemon wait for a place for: whoever is placed first leaves room
// for the others where that can be. On the loop's thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "supervisor/config/config.hpp"

namespace trainward::daemon {

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

}  // namespace trainward::daemon
