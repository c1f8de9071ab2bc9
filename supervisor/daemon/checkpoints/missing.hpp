// Whether what had verified is where it was. A share that goes away for seconds leaves an empty
// mount point, which looks like a run that has saved nothing: a run that starts over there does
// all of it again, where nobody looks for it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "checkpoint/checkpoint.hpp"

namespace trainward::daemon {

// Which folder a checkpoint lies in: "DEVICE:INODE"; empty where it cannot be looked at.
std::string folder_of(const std::filesystem::path& checkpoint);

struct Kept {
  std::filesystem::path path;  // the newest that verified, or that was seen; empty: none was
  std::string folder;          // folder_of() it then; empty: not known
  std::int64_t step = 0;       // 0: not known
  bool told = true;            // the program goes on from what is chosen, or from where it finds
  bool verified = true;        // if not, only its folder is missed
};

struct Gone {
  std::string why;            // nothing is to be begun now, in words
  bool folder_there = false;  // the one that it lay in: it was removed from there
};

// Nothing: it may begin. Reads the disk: not on the loop.
std::optional<Gone> missing(const Kept& kept, const checkpoint::Selection& selection);

}  // namespace trainward::daemon
