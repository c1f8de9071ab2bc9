// What lies in a checkpoint that is a folder.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::foreign {

struct Part {
  std::string name;  // relative to the checkpoint, "global_step500/mp_rank_00_model_states.pt"
  std::uint64_t bytes = 0;
  bool link = false;  // symbolic; its bytes are 0
};

struct Parts {
  std::vector<Part> files;                     // sorted by name; no folders
  std::vector<std::filesystem::path> folders;  // the checkpoint itself first
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  // the newest of all, folders too
};

std::int64_t modified_ns(const struct stat& info);

// Kind corrupt: more than 10,000 entries or 4 MiB of names, deeper than 8 folders, or something
// that is neither file nor folder nor link. No link is followed.
Result<Parts> parts_of(const std::filesystem::path& folder);

// Names of what is being written: "tmp-checkpoint-500", "500.orbax-checkpoint-tmp-17",
// "step5.pt.tmp".
bool says_temporary(std::string_view name);

// "checkpoint-500" as "checkpoint-#": names that differ in numbers alone are of one series.
std::string series_of(std::string_view name);

}  // namespace trainward::foreign
