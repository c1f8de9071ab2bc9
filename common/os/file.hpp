// Small-file reading and durable writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward {

// Opens a regular file and nothing else, whatever lies at `path`: what a worker may have put there
// must not make the reader wait, as a pipe without a writer does. Anything else is refused by its
// kind: "is a pipe, not a file" (corrupt; a folder: usage). Everything that is read or written
// below a state folder, a checkpoint folder or a program's own folder is opened so; tests/opens
// finds what is not. `flags` as of open(2); with O_NOFOLLOW a link is refused too.
Result<Fd> open_regular(const std::filesystem::path& path, int flags, unsigned mode = 0644);

// The same for an entry of an open folder; `folder` is its path, for the error.
Result<Fd> open_regular_at(int folder_fd, const std::string& name,
                           const std::filesystem::path& folder, int flags, unsigned mode = 0644);

// Reads a whole regular file; refuses one longer than max_bytes (kind corrupt).
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

// The rest of an open file, as read_file() has it; `path`: for the error.
Result<std::string> read_to_end(int fd, const std::filesystem::path& path, std::size_t max_bytes);

// The same as read_file() of whatever lies there, a pipe or terminal too, and waits for its end.
// Only for what a person has just named on a command line, as `<(…)` or /dev/stdin.
Result<std::string> read_stream(const std::filesystem::path& path, std::size_t max_bytes);

// Replaces `path` so that after a crash at any instant it holds the old bytes or the new ones:
// temporary name in the same folder, fsync, rename, fsync of the folder.
Status write_file_durably(const std::filesystem::path& path, std::string_view bytes,
                          unsigned mode = 0644);
// The same by way of `temporary`, in the same folder: one that a process that was killed has left
// is taken for this.
Status write_file_durably(const std::filesystem::path& path, const std::filesystem::path& temporary,
                          std::string_view bytes, unsigned mode);

// Fills `into` with the bytes from `at` on, retrying short reads and EINTR; returns how many there
// were, fewer only at the end of the file. Does not move the descriptor's position.
Result<std::size_t> read_at(int fd, std::span<std::byte> into, std::uint64_t at,
                            const std::filesystem::path& where);

// Writes all of `bytes`, retrying short writes and EINTR.
Status write_all(int fd, std::string_view bytes, const std::filesystem::path& where);

Status fsync_folder(const std::filesystem::path& folder);

// mkdir -p, with an error that names the first folder that could not be made. New folders are for
// the user and the group alone (0750, or less by the umask).
Status make_folders(const std::filesystem::path& folder);

// Opens whatever lies there, and waits for it. For folders, and what only the kernel makes
// (/proc, /sys, devices); for files see open_regular().
Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode = 0644);

}  // namespace trainward
