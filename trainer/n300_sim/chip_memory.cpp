#include "trainer/n300_sim/chip_memory.hpp"

#include <algorithm>

namespace trainward::n300 {

std::uint64_t ChipMemory::share_of_a_bank(std::uint64_t bytes) {
  const std::uint64_t pages = bytes / page_bytes + (bytes % page_bytes != 0 ? 1 : 0);
  return (pages / banks + (pages % banks != 0 ? 1 : 0)) * page_bytes;
}

std::string ChipMemory::refusal(std::uint64_t bytes) const {
  const std::uint64_t allocated = used_ < bank_bytes_ ? used_ : bank_bytes_;
  const std::uint64_t free = bank_bytes_ - allocated;
  return fmt::format(
      "Out of Memory: Not enough space to allocate {} B DRAM buffer across {} banks, where each "
      "bank needs to store {} B, but bank size is {} B (allocated: {} B, free: {} B, largest free "
      "block: {} B)",
      bytes, banks, share_of_a_bank(bytes), bank_bytes_, allocated, free,
      free / page_bytes * page_bytes);
}

Status ChipMemory::take(std::uint64_t bytes) {
  const std::uint64_t share = share_of_a_bank(bytes);
  if (used_ > bank_bytes_ || share > bank_bytes_ - used_) {
    return fail(ErrorKind::transient, refusal(bytes));
  }
  used_ += share;
  most_used_ = std::max(most_used_, used_);
  return {};
}

void ChipMemory::give(std::uint64_t bytes) { used_ -= share_of_a_bank(bytes); }

}  // namespace trainward::n300
