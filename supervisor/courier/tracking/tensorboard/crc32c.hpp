// CRC-32C (Castagnoli), as iSCSI has it, and masked as TensorFlow's record files have it. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainward::tracking {

std::uint32_t crc32c(std::string_view bytes);

// A checksum of bytes that hold checksums themselves would be weak: turned by 15 bits, and shifted.
constexpr std::uint32_t masked(std::uint32_t crc) {
  return ((crc >> 15U) | (crc << 17U)) + 0xa282ead8U;
}

}  // namespace trainward::tracking
