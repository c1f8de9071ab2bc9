// What settings mean has changed since some runs began. A run keeps the meaning it began with: its
// checkpoints name the edition, those of the first name none.
//
//   1  `linear` and `cosine` count steps from 1, so that the last one changes nothing; a model's
//   own
//      template gets the tokenizer's begin token in front; an answer may end in letters
//   2  steps count from 0, as Hugging Face has it; a model's own template begins as it says; where
//      no token ends an answer, the run does not begin
#pragma once

#include <string_view>

#include "checkpoint/checkpoint.hpp"
#include "common/base/json/json.hpp"

namespace trainward::trainer {

inline constexpr int current_edition = 2;
inline constexpr std::string_view edition_key = "edition";  // in a checkpoint's `extra`

// A checkpoint of another program was written under no edition of ours.
inline int edition_of(const checkpoint::TrainingState& state) {
  if (const json::value* named = state.extra.if_contains(edition_key)) {
    return named->is_int64() ? static_cast<int>(named->get_int64()) : 1;
  }
  return state.config_digest.empty() ? current_edition : 1;
}

}  // namespace trainward::trainer
