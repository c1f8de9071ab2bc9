// SHA-256 of files that are open, and of those of a checkpoint on its way, which must stay as they
// were.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/target/target.hpp"

namespace trainward::upload {

// Of `size` bytes from `offset` on. Kind corrupt: the file ends before; transient: stopped. `where`
// is for errors. Takes 1 MiB of memory.
Result<std::string> file_digest(int fd, std::int64_t size, const std::filesystem::path& where,
                                std::int64_t offset = 0, const std::stop_token& stop = {});

// Of a file that was fetched into `fd`: its bytes are on the disk, and are those that `file` says.
Status settle_fetched(int fd, const Remote::File& file, const std::string& where,
                      const std::stop_token& stop = {});

// Fetches a checkpoint's files one after the other; `one` fetches into a descriptor and settles it.
using FetchOne =
    std::function<Status(const Remote::File& file, int into, const Progress& progress)>;
Status fetch_files(const Remote& remote, const Into& into, const Progress& progress,
                   const FetchOne& one);

// ---- of a checkpoint's files ----
// Those of a file are kept in `memory`, by its identity, until forget_digests(): each is taken
// once.

// Fills in the digest of all of it; of a file that goes up in parts (`part_bytes` is not 0) begins
// to take them, which settle() ends. Kind corrupt: it was written meanwhile.
Status take_digests(File& file, std::int64_t part_bytes, const std::filesystem::path& where,
                    Memory& memory, const std::stop_token& stop);
// All of its digests are taken, and kept. Kind corrupt: it was written meanwhile.
Status settle(const File& file, Memory& memory);
// The same of those that happen to be taken, without waiting.
Status keep_digests(const File& file, Memory& memory);
Status forget_digests(Memory& memory);

// Of all of it; waits for it.
Result<std::string> digest_of(const File& file);
// After settle(); empty: it is not taken yet.
std::string known_digest(const File& file);
// Of a part, in the order of a file in parts of `part_bytes`: taken on the way, or here. Any
// thread.
Result<std::string> part_digest(const File& file, std::int64_t part_bytes, std::size_t index,
                                const std::stop_token& stop);

// Another one for each file, and for each time that one is written.
Result<std::string> identity_of(const File& file);

// Kind corrupt: it was written since its digest was taken.
Status unchanged(const File& file);

// When it was last written.
std::int64_t modified_ns(const struct stat& info);

}  // namespace trainward::upload
