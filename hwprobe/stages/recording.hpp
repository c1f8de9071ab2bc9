// A whole look as text: what `--record` writes and `--replay` reads.
//
//   # trainward-probe recording 1
//   stage = BOARD NAME          then the readings of that stage, then
//   end = ENDING MS DETAIL      how it ended; a file that is cut short before it ends like a
//   deadline
//
// Every line is a reading (reading.hpp), so a person can read and shorten the file. The bus itself
// is recorded as the board `bus`. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "hwprobe/stages/stage.hpp"

namespace trainward::hwprobe {

inline constexpr std::size_t max_recording_bytes = 16 * 1024 * 1024;

std::string to_text(const std::vector<BoardLook>& looks);

// Kind corrupt, with the line, when the text is not a recording.
Result<std::vector<BoardLook>> looks_from_text(std::string_view text);

}  // namespace trainward::hwprobe
