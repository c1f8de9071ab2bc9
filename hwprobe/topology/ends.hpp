// The end of a link as reports write it: "L:8" on the board that lists it, or
// "010001451170c0c4/L:8" on any board. Serial numbers are in lower case: sources write their
// digits either way.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainward::hwprobe {

struct End {
  std::string board;  // in lower case
  std::string chip;
  std::string port;  // may be empty

  friend bool operator==(const End&, const End&) = default;
};

// `board` is the serial number of the board that lists the link.
std::optional<End> parse_end(std::string_view text, std::string_view board);
// "010001451170c0c4/L:8"
std::string to_text(const End& end);

}  // namespace trainward::hwprobe
