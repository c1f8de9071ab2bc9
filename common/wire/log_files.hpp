// A worker's output as one stream of bytes, although it lies in several files.
//
// The shim writes `stdout.log`; when that would grow beyond its limit it becomes `stdout.log.1`,
// the older `.1` becomes `.2`, and so on; the oldest is deleted. A byte's offset in the stream
// never changes. `stdout.log.index` ties the two together: one line
//
//   "<inode> <base>\n"      the file with this inode begins at offset <base> of the stream
//
// written before every rotation for the file that is about to be renamed. Every other file's base
// follows from the sizes, whichever renames have happened, also when the writer died between two.
// Without an index (it could not be made) offsets count from the oldest file that is left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/error.hpp"
#include "common/os/folder.hpp"

namespace trainward {

// Of a log that is looked through for why an attempt ended, this much of its end is read; evidence
// counts the lines of that part.
inline constexpr std::int64_t log_tail_bytes = 1024 * 1024;

struct LogRange {
  std::string bytes;
  std::int64_t begin = 0;  // offset of bytes[0]; later than asked for where that was deleted
  std::int64_t first = 0;  // the oldest offset that is still there
  std::int64_t end = 0;    // the offset behind the newest byte
};

// At most `limit` bytes from `offset` on; a negative offset counts from the end. `file` is the
// current file ("…/stdout.log"). Kind usage: there is no such log. Safe beside a writer that
// rotates.
Result<LogRange> read_log(const std::filesystem::path& file, std::int64_t offset,
                          std::int64_t limit);

// Empties a log that has no writer: one empty file is left. A missing log is fine.
Status clear_log(const std::filesystem::path& file);

// The names of the scheme, for the writer.
std::filesystem::path rotated_log(const std::filesystem::path& file, int number);
std::filesystem::path log_index(const std::filesystem::path& file);
// Fixed width, so that it is replaced in place and needs no new disk space.
std::string log_index_line(std::uint64_t inode, std::int64_t base);
// The base of the file with this inode; an error when the index is not about it.
Result<std::int64_t> read_log_index(const Folder& folder, const std::string& name,
                                    std::uint64_t inode);

}  // namespace trainward
