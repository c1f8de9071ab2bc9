// Small-file reading and durable writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "common/error.hpp"
#include "common/fd.hpp"

namespace trainward {

// Reads a whole file; refuses one longer than max_bytes (kind corrupt) without reading it.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

// Replaces `path` so that after a crash at any instant it holds the old bytes or the new ones:
// temporary name in the same folder, fsync, rename, fsync of the folder.
Status write_file_durably(const std::filesystem::path& path, std::string_view bytes,
                          unsigned mode = 0644);

// Fills `into` with the bytes from `at` on, retrying short reads and EINTR; returns how many there
// were, fewer only at the end of the file. Does not move the descriptor's position.
Result<std::size_t> read_at(int fd, std::span<std::byte> into, std::uint64_t at,
                            const std::filesystem::path& where);

// Writes all of `bytes`, retrying short writes and EINTR.
Status write_all(int fd, std::string_view bytes, const std::filesystem::path& where);

Status fsync_folder(const std::filesystem::path& folder);

// mkdir -p, with an error that names the first folder that could not be made.
Status make_folders(const std::filesystem::path& folder);

Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode = 0644);

}  // namespace trainward
