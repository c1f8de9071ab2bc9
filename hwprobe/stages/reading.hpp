// One access to the hardware or the kernel and what came of it, as a line of text. A child streams
// these lines to its parent, `--record` writes them, `--replay` reads them.
//
//   KEY = VALUE      what was read
//   KEY ! NAME       the read failed with this errno: ENODATA, ENODEV, EBUSY, …
//
// KEY is a verb and its arguments: `file PATH`, `bytes PATH` (hex digits), `list PATH` (names, a
// space between two), `link PATH`, `config OFFSET`, `bar OFFSET`, `noc X Y ADDRESS`, `driver`,
// `wait MS`. Keys and values are escaped as JSON strings without their quotes; so is a `=` or `!`
// behind a space of a key: the first one in a line ends the key. Bytes that are not UTF-8 become
// U+FFFD. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainward::hwprobe {

struct Reading {
  std::string key;
  std::string value;
  std::string error;  // an errno's name; empty when the read succeeded

  friend bool operator==(const Reading&, const Reading&) = default;
};

std::string format(const Reading& reading);  // without a line end

// Nothing when the line is not a reading: a comment, cut short, longer than 64 KiB.
std::optional<Reading> parse_reading(std::string_view line);

}  // namespace trainward::hwprobe
