// Making room in the cache's folder. Functions; no state.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/error.hpp"
#include "common/program_cache/program_cache.hpp"

namespace trainward::program_cache {

struct Room {
  std::uint64_t max_bytes = 0;       // as many may stay
  std::int64_t unused_since_ms = 0;  // what was last used before this goes in any case
  std::string keep;                  // this one stays, and is not counted
};

// Removes the least recently used programs until the rest fits; those in use stay.
Result<PrunedPrograms> make_room(const ProgramCache& cache, const Room& room);

}  // namespace trainward::program_cache
