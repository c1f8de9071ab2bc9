// Whether a foreign program's checkpoint file can be resumed from, and which one to take.
//
// Nobody but the program knows the whole format, so this finds what a crash does to a file: one
// that is empty, cut off, or something else altogether. A zip (torch.save) must end with its
// directory, a safetensors file must be as long as its header says, a legacy .pt must begin as a
// pickle. Of the last, and of formats unknown here, nothing more can be told.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/foreign/checkpoint_files.hpp"

namespace trainward::foreign {

// Kind corrupt: why it cannot be used; permanent: it is not there, or not inside `folders`;
// transient: it changed while it was read.
Result<CheckpointFile> verify_foreign(const std::filesystem::path& path, const Folders& folders);

struct Skipped {
  CheckpointFile file;
  std::string reason;
};
struct Selection {
  std::optional<CheckpointFile> chosen;  // empty: nothing to resume from
  std::vector<Skipped> skipped;          // newest first; they stay where they are
};

// The newest file before `below_step` (0: of all) that verifies. Kind transient when a newer one
// cannot be read just now.
Result<Selection> select_foreign(const WatchSpec& spec, const Folders& folders,
                                 std::int64_t below_step);

}  // namespace trainward::foreign
