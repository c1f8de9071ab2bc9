#include "trainer/n300_sim/block_pool.hpp"

#include <algorithm>

namespace trainward::n300 {
namespace {

// Sizes in which blocks are interchangeable: large pages, or cache lines below one.
std::size_t rounded(std::size_t bytes) {
  constexpr std::size_t large_page = std::size_t{2} << 20;
  const std::size_t unit = bytes >= large_page ? large_page : cpu::alignment;
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Result<cpu::Memory> BlockPool::take(std::size_t bytes) {
  const std::size_t wanted = rounded(bytes);
  const auto found = std::find_if(idle_.rbegin(), idle_.rend(),
                                  [&](const cpu::Memory& block) { return block.size() == wanted; });
  cpu::Memory block;
  if (found != idle_.rend()) {
    block = std::move(*found);
    idle_.erase(std::next(found).base());
    idle_bytes_ -= wanted;
  } else {
    auto fresh = cpu::Memory::allocate(wanted);
    if (!fresh) return fresh;
    block = *std::move(fresh);
  }
  used_bytes_ += block.size();
  most_used_ = std::max(most_used_, used_bytes_);
  return block;
}

void BlockPool::give(cpu::Memory block) {
  if (block.size() == 0) return;
  used_bytes_ -= block.size();
  idle_bytes_ += block.size();
  idle_.push_back(std::move(block));
  trim(most_used_);
}

void BlockPool::trim(std::size_t most) {
  std::size_t gone = 0;
  while (idle_bytes_ > most) idle_bytes_ -= idle_[gone++].size();
  idle_.erase(idle_.begin(), idle_.begin() + static_cast<std::ptrdiff_t>(gone));
}

}  // namespace trainward::n300
