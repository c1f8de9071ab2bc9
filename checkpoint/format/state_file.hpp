// state.json: a TrainingState as text and back. Pure; parse errors are of kind corrupt.
#pragma once

#include <string>
#include <string_view>

#include "checkpoint/checkpoint.hpp"

namespace trainward::checkpoint {

inline constexpr std::size_t max_state_bytes = 64U << 20U;

// Refused (kind usage): a negative step, and whatever parse_state could not read back, such as
// text that is not UTF-8.
Result<std::string> encode(const TrainingState& state, std::string_view where);
Result<TrainingState> parse_state(std::string_view text, std::string_view where);

}  // namespace trainward::checkpoint
