// Opening and reading the files of one checkpoint folder, which may come from anywhere.
//
// Files are opened relative to the folder's descriptor, so a rename of the folder in between cannot
// mix two checkpoints; symbolic links, devices, pipes and sub-folders are refused. A missing or
// wrong file is corruption of the checkpoint (kind corrupt); a disk that cannot be read is not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::checkpoint {

struct OpenFile {
  Fd fd;
  std::uint64_t size = 0;
  std::uint64_t begin = 0;  // where it begins, in a descriptor that holds several
};

Result<Fd> open_folder(const std::filesystem::path& folder);

// `folder` names the folder in errors.
Result<OpenFile> open_member(int folder_fd, std::string_view name,
                             const std::filesystem::path& folder);

// Whole small file; longer than max_bytes is corrupt and not read.
Result<std::string> read_member(const OpenFile& file, std::size_t max_bytes,
                                const std::filesystem::path& where);

}  // namespace trainward::checkpoint
