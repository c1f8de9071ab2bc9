// SHA-256 of files that are open, and of those of a checkpoint on its way, which must stay as they
// were.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/upload/target.hpp"

namespace trainward::upload {

// Of `size` bytes from `offset` on. Kind corrupt: the file ends before; transient: stopped. `where`
// is for errors. Takes 1 MiB of memory.
Result<std::string> file_digest(int fd, std::int64_t size, const std::filesystem::path& where,
                                std::int64_t offset = 0, const std::stop_token& stop = {});

// Fills in the digest of all of it and, where `part_bytes` is not 0, of its parts: by two threads
// at once, so that its bytes are fetched from the disk once. What is taken is kept in `memory`, by
// file, time and size, until forget_digests(). Kind corrupt: it was written meanwhile.
Status take_digests(File& file, std::int64_t part_bytes, const std::filesystem::path& where,
                    Memory& memory, const std::stop_token& stop);
Status forget_digests(Memory& memory);

// Kind corrupt: it was written since its digest was taken.
Status unchanged(const File& file);

// When it was last written.
std::int64_t modified_ns(const struct stat& info);

}  // namespace trainward::upload
