// Host memory behind the simulated chips' buffers, kept for reuse.
//
// A step gives back as many blocks of a size as the next one takes; a fresh block of them would
// cost a page fault every 4 KiB or 2 MiB. What a block holds when it is taken is what its last user
// left. Idle blocks are at most as much as was ever in use at once, the longest idle go first.
// One thread.
#pragma once

#include <cstddef>
#include <vector>

#include "trainer/cpu/runtime/memory.hpp"

namespace trainward::n300 {

class BlockPool {
 public:
  // At least `bytes`, aligned to cpu::alignment. Kind transient when the system has none left.
  Result<cpu::Memory> take(std::size_t bytes);
  void give(cpu::Memory block);

  [[nodiscard]] std::size_t idle_bytes() const { return idle_bytes_; }
  [[nodiscard]] std::size_t used_bytes() const { return used_bytes_; }

 private:
  void trim(std::size_t most);

  std::vector<cpu::Memory> idle_;  // the longest idle first
  std::size_t idle_bytes_ = 0;
  std::size_t used_bytes_ = 0;
  std::size_t most_used_ = 0;
};

}  // namespace trainward::n300
