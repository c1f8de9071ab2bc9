// SHA-256 of files that are open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "common/base/error.hpp"

namespace trainward::upload {

// Of `size` bytes from `offset` on. Kind corrupt: the file ends before; transient: stopped. `where`
// is for errors. Takes 1 MiB of memory.
Result<std::string> file_digest(int fd, std::int64_t size, const std::filesystem::path& where,
                                std::int64_t offset = 0, const std::stop_token& stop = {});

}  // namespace trainward::upload
