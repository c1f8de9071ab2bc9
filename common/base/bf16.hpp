// bf16, the upper half of a float, by its bits. Widening is exact; rounding is to the nearest, to
// even at a tie, beyond the largest to infinity, and a NaN stays one.
//
// Always inlined and free of library templates: files compiled for newer instruction sets include
// it, and nothing of theirs may end up behind a symbol that others call.
#pragma once

#include <cstdint>

namespace trainward {

[[gnu::always_inline]] inline float float_from_bf16(std::uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16U);
}

[[gnu::always_inline]] inline std::uint16_t bf16_from_float(float value) {
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t nearest = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
  // Rounding could carry a NaN's payload away; the quiet bit keeps it one.
  const std::uint32_t quiet = bits >> 16U | 0x40U;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? quiet : nearest);
}

}  // namespace trainward
