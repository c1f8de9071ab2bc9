// A tree removed with all that is in it: Folder::remove_tree() and remove_contents(), and the same
// by a path.
//
// Another user may own the tree and change it meanwhile. Everything goes by descriptors, no link
// is followed, what is mounted in it is neither entered nor removed. Folders that lie deeper are
// moved up into the topmost one under fresh names before they are emptied, so that neither depth
// nor width costs descriptors (seven) or memory (some 100 KiB). It takes as long as there are
// files: not on a loop.
//
// Done when nothing is there. An error names the first thing that stays and why (no right to remove
// it, a mount point); all else that can go has gone then.
#pragma once

#include <filesystem>

#include "common/base/error.hpp"

namespace trainward {

// For a path whose folder no other user can redirect; else Folder::remove_tree().
Status remove_tree(const std::filesystem::path& path);

}  // namespace trainward
