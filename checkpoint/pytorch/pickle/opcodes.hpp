// The pickle opcodes a checkpoint needs, by Python's documentation of its pickle format.
#pragma once

#include <cstdint>

namespace trainward::checkpoint::pytorch::op {

inline constexpr std::uint8_t proto = 0x80;
inline constexpr std::uint8_t stop = '.';
inline constexpr std::uint8_t mark = '(';
inline constexpr std::uint8_t none = 'N';
inline constexpr std::uint8_t new_true = 0x88;
inline constexpr std::uint8_t new_false = 0x89;
inline constexpr std::uint8_t bin_int = 'J';           // i32, little-endian
inline constexpr std::uint8_t bin_int1 = 'K';          // u8
inline constexpr std::uint8_t bin_int2 = 'M';          // u16
inline constexpr std::uint8_t long1 = 0x8a;            // u8 size, two's complement
inline constexpr std::uint8_t bin_float = 'G';         // big-endian
inline constexpr std::uint8_t bin_unicode = 'X';       // u32 size, UTF-8
inline constexpr std::uint8_t short_bin_string = 'U';  // u8 size
inline constexpr std::uint8_t empty_list = ']';
inline constexpr std::uint8_t empty_dict = '}';
inline constexpr std::uint8_t empty_set = 0x8f;
inline constexpr std::uint8_t empty_tuple = ')';
inline constexpr std::uint8_t tuple = 't';
inline constexpr std::uint8_t tuple1 = 0x85;
inline constexpr std::uint8_t tuple2 = 0x86;
inline constexpr std::uint8_t tuple3 = 0x87;
inline constexpr std::uint8_t append = 'a';
inline constexpr std::uint8_t appends = 'e';
inline constexpr std::uint8_t set_item = 's';
inline constexpr std::uint8_t set_items = 'u';
inline constexpr std::uint8_t bin_put = 'q';
inline constexpr std::uint8_t long_bin_put = 'r';
inline constexpr std::uint8_t bin_get = 'h';
inline constexpr std::uint8_t long_bin_get = 'j';
inline constexpr std::uint8_t global = 'c';
inline constexpr std::uint8_t reduce = 'R';
inline constexpr std::uint8_t new_object = 0x81;
inline constexpr std::uint8_t build = 'b';
inline constexpr std::uint8_t bin_persistent_id = 'Q';

}  // namespace trainward::checkpoint::pytorch::op
