#include "trainer/sim/simulated_board.hpp"

#include <unistd.h>

namespace trainward::trainer {
namespace {

constexpr std::uint64_t chips = 2;
constexpr std::uint64_t banks_per_chip = 12;
constexpr std::uint64_t page_bytes = 2048;  // a buffer's share of a bank is whole pages

// One chip's share of a buffer that is spread over both.
std::string out_of_memory(std::uint64_t dram, std::uint64_t used, std::uint64_t wanted) {
  const std::uint64_t banks = chips * banks_per_chip;
  const std::uint64_t on_a_chip = (wanted + chips - 1) / chips;
  const std::uint64_t on_a_bank =
      ((on_a_chip + banks_per_chip - 1) / banks_per_chip + page_bytes - 1) / page_bytes *
      page_bytes;
  const std::uint64_t bank_size = dram / banks;
  const std::uint64_t allocated = used < dram ? used / banks : bank_size;
  const std::uint64_t free = bank_size - allocated;
  return fmt::format(
      "Out of Memory: Not enough space to allocate {} B DRAM buffer across {} banks, where each "
      "bank needs to store {} B, but bank size is {} B (allocated: {} B, free: {} B, largest free "
      "block: {} B)",
      on_a_chip, banks_per_chip, on_a_bank, bank_size, allocated, free,
      free / page_bytes * page_bytes);
}

}  // namespace

SimulatedBoard::SimulatedBoard(BoardScript script, std::int64_t attempt)
    : script_(script), attempt_(attempt), used_(script.base_bytes) {}

Result<BoardAnswer> SimulatedBoard::begin_step() {
  if (script_.hang && script_.hang->attempt == attempt_ &&
      script_.hang->after_steps == steps_done_) {
    return BoardAnswer::hangs;
  }
  const std::uint64_t wanted = script_.leak_bytes_per_step;
  if (used_ > script_.dram_bytes || wanted > script_.dram_bytes - used_) {
    return fail(ErrorKind::transient, out_of_memory(script_.dram_bytes, used_, wanted));
  }
  used_ += wanted;
  ++steps_done_;
  return BoardAnswer::ready;
}

std::string as_the_device_prints_it(const std::string& sentence) {
  return fmt::format(
      "                utils.h:62     ERR| Exception:\n"
      "{{TT_FATAL @ tt_metal/impl/allocator/bank_manager.cpp:462: false\n"
      "info:\n"
      "{}\n"
      "}}\n"
      "INTERNAL: Error code: 13\n",
      sentence);
}

void hang_for_ever() {
  for (;;) ::pause();
}

}  // namespace trainward::trainer
