#include "hwprobe/tenstorrent/decode/board_id.hpp"

#include <fmt/format.h>

namespace trainward::hwprobe {

std::string serial_text(std::uint64_t board_id) { return fmt::format("{:016X}", board_id); }

std::string board_type(std::uint64_t board_id) {
  switch ((board_id >> 36) & 0xFFFFF) {
    case 0x14:
      return "n300";
    case 0x18:
      return "n150";
    case 0x35:
      return "galaxy-wormhole";
    default:
      return "unknown";
  }
}

std::uint32_t mangled(std::uint64_t board_id) {
  return static_cast<std::uint32_t>(((board_id >> 4) & 0xF0000000) | (board_id & 0x0FFFFFFF));
}

}  // namespace trainward::hwprobe
