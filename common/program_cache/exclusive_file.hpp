// Files that belong to the process that holds them locked (flock): lock files, and files being
// written.
//
// A file whose lock is free has no owner: its process is dead. That tells more than a
// process number in its name, which may be another's by now, or of another pid namespace.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::program_cache {

enum class Wait { no, yes };

// Opens (or makes) the file and locks it. Empty: another holds it (Wait::no only). The returned
// file is still at `path`: it was not removed or replaced meanwhile.
Result<std::optional<Fd>> hold_file(const std::filesystem::path& path, Wait wait);

// Removes the held file and releases it. Does nothing to another file of that name.
void release_file(Fd fd, const std::filesystem::path& path);

// Writes folder/name atomically: a temporary name, fsync, rename, fsync of the folder. sweep()
// removes what a killed process leaves.
Status write_whole_file(const std::filesystem::path& folder, const std::string& name,
                        std::span<const std::string_view> pieces);

// Removes the lock files and half-written files of processes that are gone. Best effort.
void sweep(const std::filesystem::path& folder);

}  // namespace trainward::program_cache
