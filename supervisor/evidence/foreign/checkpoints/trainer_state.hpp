// trainer_state.json, which Hugging Face's Trainer leaves in each of its checkpoints
// (transformers, TrainerState.save_to_json).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "supervisor/evidence/foreign/formats/unpaired_log.hpp"

namespace trainward::foreign {

struct TrainerState {
  std::int64_t step = 0;
  TrainerLog log;  // the newest 10,000 entries at least
};

// Of a folder. Nothing: it is missing, or cannot be read, or is longer than 64 MiB. Not on the
// loop.
std::optional<TrainerState> read_trainer_state(const std::filesystem::path& folder);

}  // namespace trainward::foreign
