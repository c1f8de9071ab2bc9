// Raw sensor words in units, and what is believed of them.
#pragma once

#include <cstdint>
#include <optional>

namespace trainward::hwprobe {

inline constexpr unsigned dram_channels = 6;

// Signed, 16 bits after the point.
constexpr double fixed_point(std::uint32_t word) {
  return static_cast<double>(static_cast<std::int32_t>(word)) / 65536;
}

// No sensor of a working board is outside of this; a broken one is not a hot board.
constexpr std::optional<double> temperature(std::optional<double> celsius) {
  if (!celsius || *celsius < -50 || *celsius > 200) return std::nullopt;
  return celsius;
}

// A limit of 0 was never set. One below 40 °C would call every working board hot.
constexpr std::optional<double> limit(std::optional<double> celsius) {
  if (!celsius || *celsius < 40 || *celsius > 150) return std::nullopt;
  return celsius;
}

}  // namespace trainward::hwprobe
