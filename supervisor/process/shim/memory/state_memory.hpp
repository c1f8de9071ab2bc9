// The memory that a worker leaves its state in between checkpoints: two memfds, made or taken over
// before it starts, which it inherits and finds by TRAINWARD_MEMORY.
//
// A memfd has no name, so only who is given the descriptor has it: the worker, this shim, the
// keeper after it, and the next attempt's shim. It is the worker's user's, mode 0600. What was the
// state of another user is not taken. Nothing of this is needed for a start: where it fails the
// worker has none, and shim.log says why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/os/folder.hpp"
#include "common/wire/kept_state.hpp"
#include "common/wire/launch.hpp"

namespace trainward::shim {

class StateMemory {
 public:
  // `attempt`: its folder.
  StateMemory(const LaunchSpec& spec, const std::filesystem::path& attempt);

  // Numbers of the descriptors, with a comma between: the value of TRAINWARD_MEMORY. Empty: none.
  [[nodiscard]] std::string numbers() const;
  [[nodiscard]] const std::optional<KeptState>& state() const { return state_; }
  [[nodiscard]] std::vector<int> descriptors() const;
  // Has it held for the next attempt, where there is anything in it. By the last call of a process
  // that has no other thread.
  void keep() const;

 private:
  std::filesystem::path folder_;  // the program's
  std::optional<KeptState> state_;
};

}  // namespace trainward::shim
