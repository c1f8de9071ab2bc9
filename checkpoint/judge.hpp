// The verdict on a checkpoint that a writer may replace or remove while it is being read.
#pragma once

#include <filesystem>
#include <optional>

#include "checkpoint/checkpoint.hpp"

namespace trainward::checkpoint {

// verify(), until the folder was the same before and after: only then it has been judged fairly.
// Apparent damage is read once more: a bit that flipped in transit is no reason to discard a
// checkpoint.
// Empty: it is gone. Kind transient: it keeps changing.
std::optional<Result<Summary>> judge(const std::filesystem::path& folder, const IoOptions& io);

}  // namespace trainward::checkpoint
