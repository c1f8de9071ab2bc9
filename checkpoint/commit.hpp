// The files of one checkpoint made durable: the order of writes, syncs and renames that leaves the
// old state or the new one after a crash at any instant.
//
// In: a root folder and what is to be in the new checkpoint. Out: its folder, written, renamed and
// read back from the disk; or an error, and everything is as it was. `latest` names it then, unless
// it cannot be written, which is no reason to give a checkpoint up (latest_problem()). Blocks
// for as long as the disk takes. `buffers` as in Transfer. One writer a root.
#pragma once

#include <filesystem>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/image.hpp"

namespace trainward::checkpoint {

Result<std::filesystem::path> commit_image(const std::filesystem::path& root,
                                           const TrainingState& state, const Image& image,
                                           const IoOptions& io, AlignedMemory& buffers);

}  // namespace trainward::checkpoint
