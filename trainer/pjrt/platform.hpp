// What a compiled program is for: a platform and its devices. It is part of what a program is
// cached under.
#pragma once

#include <cstddef>
#include <string>

namespace trainward::pjrt {

struct Platform {
  std::string name;         // "tt", "cuda"
  std::string version;      // the platform's own words; may be empty
  std::string device_kind;  // of the first device
  std::size_t device_count = 0;

  friend bool operator==(const Platform&, const Platform&) = default;
};

}  // namespace trainward::pjrt
