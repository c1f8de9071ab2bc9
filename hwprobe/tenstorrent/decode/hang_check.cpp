#include "hwprobe/tenstorrent/decode/hang_check.hpp"

#include "hwprobe/tenstorrent/registers/addresses.hpp"

namespace trainward::hwprobe {
namespace {

namespace wh = wormhole;

}  // namespace

Hang check_hang(RegisterIo& registers) {
  constexpr std::uint32_t half = 0xFFFF;
  const auto ids = registers.config32(wh::config::ids);
  if (ids && (*ids & half) == half) return Hang::off_bus;
  const auto silent = [](const Result<std::uint32_t>& word) {
    return word && *word == wh::all_ones;
  };
  if (silent(registers.bar32(wh::bar::bus_check))) return Hang::bus;
  if (silent(registers.noc32(wh::arc_tile.x, wh::arc_tile.y, wh::noc_check))) return Hang::noc;
  if (silent(registers.bar32(wh::bar::scratch6))) return Hang::reset_unit;
  return Hang::none;
}

Result<std::uint32_t> SuspectRegisters::seen(Result<std::uint32_t> word) {
  if (word && *word == wh::all_ones) suspect_ = true;
  return word;
}

Result<std::uint32_t> SuspectRegisters::config32(std::uint32_t offset) {
  return seen(registers_.config32(offset));
}

Result<std::uint32_t> SuspectRegisters::bar32(std::uint32_t offset) {
  return seen(registers_.bar32(offset));
}

Result<std::uint32_t> SuspectRegisters::noc32(unsigned x, unsigned y, std::uint64_t address) {
  return seen(registers_.noc32(x, y, address));
}

}  // namespace trainward::hwprobe
