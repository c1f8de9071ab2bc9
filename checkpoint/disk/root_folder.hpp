// What happens to whole folders inside a checkpoint root: made, moved in, set aside, removed.
//
// Every change of a checkpoint's name is one rename, so a reader or a crash sees the state before
// or after it. A folder that is being written is locked (flock) by its writer until that ends or
// dies: a temporary folder without a lock is a leftover and any process may remove it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::checkpoint {

struct Temporary {
  std::filesystem::path path;
  Fd fd;  // of the folder; holds the lock
};

// mkdir -p that survives a crash: the parent of every folder that had to be made is fsynced.
Status make_root(const std::filesystem::path& root);

Result<Temporary> make_temporary(const std::filesystem::path& root, std::int64_t step);

// After it `folder` holds what `temporary` held. True when there was something at `folder` before:
// that lies at `temporary` now.
Result<bool> move_in(const std::filesystem::path& temporary, const std::filesystem::path& folder);

// Removes a checkpoint so that a crash leaves it whole or as a temporary folder, never in part.
// False: a process has it open.
Result<bool> remove_checkpoint(const std::filesystem::path& folder);
// What remove_checkpoint() would do now.
Result<bool> can_remove(const std::filesystem::path& folder);

// Renames to PREFIX + name (".corrupt-…"); returns the new path.
Result<std::filesystem::path> set_aside(const std::filesystem::path& folder,
                                        std::string_view prefix);

// One rename; fails when there is something at `to`.
Status move_to_free_name(const std::filesystem::path& from, const std::filesystem::path& to);

// Removes temporary folders whose writer is gone and finishes or takes back replacements that were
// interrupted. What cannot be removed now stays for the next time.
void clean_up(const std::filesystem::path& root);

// What clean_up() would remove or bring back now: in the order of the folder.
std::vector<std::filesystem::path> leftovers(const std::filesystem::path& root);

// Folders named step-…, highest step first; a missing root has none. Symbolic links do not count.
// Of more than 20,000 at least as many of the highest.
Result<std::vector<std::filesystem::path>> step_folders(const std::filesystem::path& root);

// Device and inode as text, to see whether a path still means the same folder; empty when missing.
std::string identity(const std::filesystem::path& path);

}  // namespace trainward::checkpoint
