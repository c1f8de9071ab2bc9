// Signatures and fixed sizes of the zip format (PKWARE's APPNOTE), for the reader and the writer.
#pragma once

#include <cstdint>

namespace trainward::checkpoint::pytorch::zip {

inline constexpr std::uint32_t local_signature = 0x04034b50;
inline constexpr std::uint32_t central_signature = 0x02014b50;
inline constexpr std::uint32_t end_signature = 0x06054b50;
inline constexpr std::uint32_t end64_signature = 0x06064b50;
inline constexpr std::uint32_t locator_signature = 0x07064b50;
inline constexpr std::uint32_t descriptor_signature = 0x08074b50;

inline constexpr std::uint64_t local_bytes = 30;
inline constexpr std::uint64_t central_bytes = 46;
inline constexpr std::uint64_t end_bytes = 22;
inline constexpr std::uint64_t end64_bytes = 56;
inline constexpr std::uint64_t locator_bytes = 20;

inline constexpr std::uint16_t has_descriptor = 1U << 3U;  // flag bits
inline constexpr std::uint16_t utf8_name = 1U << 11U;

inline constexpr std::uint16_t zip64_extra = 1;         // field ids
inline constexpr std::uint16_t padding_extra = 0x4246;  // "FB", as PyTorch aligns its data
inline constexpr std::uint32_t in_zip64 = 0xffffffff;   // the value stands in the zip64 field

}  // namespace trainward::checkpoint::pytorch::zip
