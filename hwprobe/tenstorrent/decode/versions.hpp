// Firmware versions: as words, as text, in order.
//
// Sources: tt-umd (firmware_utils, erisc_firmware), tt-kmd (telemetry.c) for how they are packed.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainward::hwprobe {

struct Version {
  std::array<int, 4> parts{};
  int count = 4;  // how many parts its text has

  // "19.7.1.0". One to four numbers; anything else is no version.
  static std::optional<Version> parse(std::string_view text);
  // A firmware bundle, or any firmware of the management processor: one byte a part. 0 means no
  // version.
  static std::optional<Version> of_bundle(std::uint32_t word);
  // Ethernet firmware: bits 23:16, 15:12, 11:0. 0 means no version.
  static std::optional<Version> of_ethernet(std::uint32_t word);

  [[nodiscard]] std::string text() const;
  // By age: bundles of the old numbering ("80.17.0.0") precede all others.
  [[nodiscard]] bool older_than(const Version& other) const;
};

// The oldest that today's user-mode driver takes.
inline constexpr Version oldest_bundle{{18, 3, 0, 0}, 2};
inline constexpr Version oldest_ethernet{{6, 14, 0, 0}, 2};

}  // namespace trainward::hwprobe
