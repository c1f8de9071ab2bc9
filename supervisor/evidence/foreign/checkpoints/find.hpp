// The checkpoints of a foreign program: files and folders found by pattern, newest step first.
//
// One counts when it really lies in the folder the pattern begins at: a link that leads out of it
// is skipped. Names that say "tmp" are of checkpoints still being written, which do not count.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/evidence/foreign/checkpoints/checkpoint_pattern.hpp"

namespace trainward::foreign {

struct Candidate {
  std::filesystem::path path;
  std::optional<std::int64_t> step;  // by its name; none: inside, or by when it was written
  std::uint64_t bytes = 0;           // of a folder: of all in it
  std::int64_t modified_ns = 0;      // of a folder: of the newest in it
  std::uint64_t inode = 0;
  std::vector<std::filesystem::path> folders = {};  // of a folder: itself and those in it
  friend bool operator==(const Candidate&, const Candidate&) = default;
};

struct PassedOver {
  std::filesystem::path path;
  std::string reason;
};

struct Found {
  std::vector<Candidate> candidates;  // those without a step last; of equal steps the newest first
  std::vector<PassedOver> passed_over;  // at most 16: matched, and can never count as it is
};

// Folders that cannot be read are empty. `since_ns`: only what was last written then or later.
// Linear in the number of names, of which a million a folder are looked at, and of parts; of more
// than 20,000, or 8 MiB of their paths, the newest. Takes as long as the file system does: not on
// the loop.
Found find_checkpoints(const WatchSpec& spec, const Folders& folders, std::int64_t since_ns = 0);

// Newest step first, those without one last; of equal ones the one written last.
void sort_newest_first(std::vector<Candidate>& candidates);

}  // namespace trainward::foreign
