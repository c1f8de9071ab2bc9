// The 64-bit id that both chips of a board share, and what it tells.
//
// Sources: tt-umd (board types by UPI), luwen and tt-umd for how Ethernet firmware mangles the id.
#pragma once

#include <cstdint>
#include <string>

namespace trainward::hwprobe {

// As the driver writes it in tt_serial: 16 digits, upper case.
std::string serial_text(std::uint64_t board_id);

// "n300", "n150", "galaxy-wormhole", as the driver calls them; "unknown".
std::string board_type(std::uint64_t board_id);

// The low word of the id as an Ethernet core keeps it: the top digit is that above the low word.
std::uint32_t mangled(std::uint64_t board_id);

}  // namespace trainward::hwprobe
