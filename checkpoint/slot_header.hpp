// The first page of a state slot (state_slot.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace trainward::checkpoint {

inline constexpr std::array<char, 8> slot_magic{'T', 'W', 'S', 'T', 'A', 'T', 'E', '\n'};
inline constexpr std::uint32_t slot_version = 1;

// Read and written by programs of one machine, and of one release or the next.
struct SlotHeader {
  std::array<char, 8> magic{};
  std::uint32_t version = 0;
  std::uint32_t complete = 0;        // 1 once all else is written
  std::uint64_t manifest_bytes = 0;  // from the second page on
  std::uint64_t files_at = 0;        // a multiple of the page
  std::int64_t step = 0;             // as in the manifest, for a first look
  std::int64_t takings = 0;
};
static_assert(std::is_trivially_copyable_v<SlotHeader> && sizeof(SlotHeader) == 48);

}  // namespace trainward::checkpoint
