// The place at which the simulated daemon is killed: the nth time that it deals with the world.
#pragma once

#include <cstdint>

namespace trainward::sim {

// Thrown by the world, through the daemon's code, which does not catch it, to where the daemon was
// called: the dead have no say on the way out.
struct Killed {};

class KillPoint {
 public:
  // 0: at the next passage.
  void arm(std::int64_t passages) { left_ = passages; }
  void disarm() { left_ = -1; }
  [[nodiscard]] bool next() const { return left_ == 0; }
  void pass() {
    if (left_ >= 0 && left_-- == 0) throw Killed{};
  }

 private:
  std::int64_t left_ = -1;
};

}  // namespace trainward::sim
