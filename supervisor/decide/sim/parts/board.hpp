// Accelerator boards as the probe and the worker meet them, and the compiled programs kept for
// each.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "supervisor/decide/core/boards.hpp"
#include "supervisor/decide/core/plan.hpp"
#include "supervisor/decide/sim/parts/setup.hpp"

namespace trainward::sim {

struct Board {
  std::string serial;
  bool link_up = true;
  bool lies = false;              // the probe finds it healthy whatever it is
  bool reset_helps = true;        // otherwise only the quiet end of the scenario mends it
  core::BoardRecord record = {};  // as the run database has it

  [[nodiscard]] bool looks_usable() const { return link_up || lies; }
};

inline std::vector<Board> make_boards(const Setup& setup) {
  std::vector<Board> boards;
  for (std::int64_t i = 0; i < setup.boards; ++i) {
    Board board{std::string(1, static_cast<char>('A' + i))};
    // At least the last one works.
    if (i + 1 < setup.boards && i < setup.dead_boards + setup.lying_boards) {
      board.link_up = false;
      board.reset_helps = false;
      board.lies = i >= setup.dead_boards;
    }
    boards.push_back(std::move(board));
  }
  return boards;
}

// Programs are compiled for one board and one shape of the work.
class Caches {
 public:
  [[nodiscard]] bool has(int board, const core::Plan& plan) const {
    return kept_.contains(key(board, plan));
  }
  void keep(int board, const core::Plan& plan) { kept_.insert(key(board, plan)); }
  void purge() {
    kept_.clear();
    corrupt = false;
  }
  bool corrupt = false;

 private:
  using Key = std::tuple<int, std::int64_t, std::int64_t, bool>;
  static Key key(int board, const core::Plan& plan) {
    return {board, plan.block, plan.batch, plan.recompute};
  }
  std::set<Key> kept_;
};

}  // namespace trainward::sim
