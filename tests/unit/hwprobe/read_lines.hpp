// Readings of a text, one per line; comments and malformed lines are left out.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "hwprobe/stages/reading.hpp"

namespace trainward::hwprobe {

inline std::vector<Reading> read_lines(const std::string& text) {
  std::vector<Reading> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    if (auto reading = parse_reading(line)) all.push_back(std::move(*reading));
  }
  return all;
}

}  // namespace trainward::hwprobe
