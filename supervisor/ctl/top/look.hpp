// How a cell of the screen is painted: one of the eight colours every terminal has, and attributes.
#pragma once

#include <cstdint>

namespace trainward::ctl::top {

enum class Ink : std::uint8_t { plain, red, green, yellow, blue, magenta, cyan };

struct Look {
  Ink ink = Ink::plain;
  bool bold = false;
  bool dim = false;
  bool reverse = false;

  friend bool operator==(const Look&, const Look&) = default;
};

namespace looks {
inline constexpr Look plain{};
inline constexpr Look dim{.dim = true};
inline constexpr Look bold{.bold = true};
inline constexpr Look reverse{.reverse = true};
inline constexpr Look good{.ink = Ink::green};
inline constexpr Look changing{.ink = Ink::yellow};
inline constexpr Look bad{.ink = Ink::red, .bold = true};
}  // namespace looks

}  // namespace trainward::ctl::top
