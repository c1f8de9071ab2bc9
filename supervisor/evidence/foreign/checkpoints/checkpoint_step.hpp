// Of which step a checkpoint is, as people write it: in its name, in a folder's name on the way to
// it, or inside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trainward::foreign {

// The number behind the last "step" or "iter" in the name, else its last number that is not said to
// be something else: 120 of "step-120-of-500.pt", 7 of "model_v2_7.pt"; none of "epoch3.pt",
// "best_loss_0.25.pt" or "model-00001-of-00004.safetensors". Numbers of the ending do not count.
std::optional<std::int64_t> step_in_name(std::string_view name);

// `names` matched `parts`, the outermost first. A name that says "step" before one that does not,
// the innermost before others; a name that was written out counts only if it says "step".
std::optional<std::int64_t> step_in_path(std::span<const std::string> parts,
                                         std::span<const std::string> names);

// Of a folder: `global_step` in its trainer_state.json. Of a file of torch.save: the whole number
// at its top that is called global_step, iter_num, step, … (nanoGPT, Lightning). Only the list of
// what is in the file is read, as data (checkpoint/pytorch/pickle/pickle.hpp), up to some
// megabytes; what cannot be read has no step. Not on the loop.
std::optional<std::int64_t> step_inside(const std::filesystem::path& path);

}  // namespace trainward::foreign
