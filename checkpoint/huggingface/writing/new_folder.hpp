// A folder that appears whole or not at all.
//
// In: its path, where nothing lies yet, and its files. Out: the folder, written beside its place
// under another name, made durable file by file, then renamed; or an error, and nothing of it
// stays. What is there already is never replaced (kind usage). Blocks for as long as the disk
// takes.
#pragma once

#include <cstdint>
#include <filesystem>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/image.hpp"

namespace trainward::checkpoint::huggingface {

// "folder/" has no last component of its own to rename to.
std::filesystem::path without_slash(const std::filesystem::path& folder);

Status must_be_new(const std::filesystem::path& folder);

Status write_new_folder(const std::filesystem::path& folder, const Image& image,
                        const IoOptions& io);

}  // namespace trainward::checkpoint::huggingface
