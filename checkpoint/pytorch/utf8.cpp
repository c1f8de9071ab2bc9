#include "checkpoint/pytorch/utf8.hpp"

#include <cstdint>

namespace trainward::checkpoint::pytorch {

bool is_utf8(std::string_view bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    const auto first = static_cast<unsigned char>(bytes[i++]);
    if (first < 0x80) continue;
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4) return false;
    std::uint32_t code = first & (0x3fU >> static_cast<unsigned>(more));
    for (int k = 0; k < more; ++k, ++i) {
      if (i == bytes.size()) return false;
      const auto next = static_cast<unsigned char>(bytes[i]);
      if ((next & 0xc0U) != 0x80) return false;
      code = (code << 6U) | (next & 0x3fU);
    }
    if ((more == 2 && code < 0x800) || (more == 3 && code < 0x10000)) return false;
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  }
  return true;
}

}  // namespace trainward::checkpoint::pytorch
