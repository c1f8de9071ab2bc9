// The checkpoint files of a foreign program: found by pattern, ordered by the step in their name.
//
// A pattern is relative to the program's directory, or begins with `{checkpoint_dir}/`. `*`, `?`
// and
// `[…]` stand for characters of one name and never for a '/'; a leading dot must be written. A file
// counts when it is regular and really lies in the folder the pattern begins at: a link that leads
// out of it is passed over. A name without digits has no step and is passed over as well.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/foreign/spec.hpp"

namespace trainward::foreign {

// Kind usage: an absolute path, one that climbs, or no name at its end.
Status check_glob(std::string_view glob);

// The digits behind the last "step" in the name, else its last digits: 120 of "step-120-of-500.pt",
// 7 of "model_v2_7.pt". Digits of the ending do not count.
std::optional<std::int64_t> step_in_name(std::string_view name);

struct CheckpointFile {
  std::filesystem::path path;
  std::int64_t step = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const CheckpointFile&, const CheckpointFile&) = default;
};

// Newest step first; of equal steps the one written last. Folders that cannot be read are empty.
// `since_ns`: only files last written then or later. Linear in the number of names, of which a
// million a folder are looked at; takes as long as the file system does: not on the loop.
std::vector<CheckpointFile> find_checkpoints(const WatchSpec& spec, const Folders& folders,
                                             std::int64_t since_ns = 0);

// Every folder in which something of the spec exists or may appear: those along the way as well, so
// that one that is made later is noticed. At most 64.
std::vector<std::filesystem::path> folders_to_watch(const WatchSpec& spec, const Folders& folders);

// Whether a new or changed entry of this name can matter to find_checkpoints().
bool may_matter(const WatchSpec& spec, const std::string& name);

// Below one of the two folders, by its name and, as far as it exists, by what links lead to.
bool lies_inside(const std::filesystem::path& path, const Folders& folders);

}  // namespace trainward::foreign
