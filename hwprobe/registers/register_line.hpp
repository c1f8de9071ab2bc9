// One read as one line of text: what a child streams, what --record writes and --replay reads.
//
//     <key> = <value>     bar 0x1ff30060 = 0xc0de0001
//     <key> ! <ERRNO>     noc 9 6 0x1104 ! ENODEV
//
// In and out: a Reading, key and value as plain text; in the line they are escaped like JSON
// strings without the quotes (and "=" and "!" in a key too), so any text survives. Errors: a line
// that is not of this form is nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.hpp"

namespace trainward::hwprobe {

struct Reading {
  std::string key;
  std::string value;
  std::string error;  // "ENODEV"; a reading has a value or an error

  friend bool operator==(const Reading&, const Reading&) = default;
};

std::string format(const Reading& reading);
std::optional<Reading> parse_reading(std::string_view line);

// All lines of a recording. Empty lines and lines that begin with '#' are skipped; a line without
// an end is what a killed child left behind, and is dropped unless it is whole. Refuses (corrupt,
// with the line's number) what is no reading, and more than a million lines.
Result<std::vector<Reading>> parse_readings(std::string_view text, std::string_view where);

}  // namespace trainward::hwprobe
