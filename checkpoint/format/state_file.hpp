// state.json: a TrainingState as text and back. Pure; parse errors are of kind corrupt.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint {

// `extra` carries what only the trainer understands (data cursor, RNG, plan).
struct TrainingState {
  std::int64_t step = 0;
  std::int64_t tokens = 0;
  double loss = 0;
  std::string run;
  std::string config_digest;  // SHA-256 of the trainer's configuration; a resume must match
  std::string parent;         // folder name of the checkpoint this run resumed from, or empty
  json::object extra;
};

inline constexpr std::size_t max_state_bytes = 16U << 20U;

// Refused (kind usage): a negative step, and whatever parse_state could not read back, such as
// text that is not UTF-8.
Result<std::string> encode(const TrainingState& state, std::string_view where);
Result<TrainingState> parse_state(std::string_view text, std::string_view where);

}  // namespace trainward::checkpoint
