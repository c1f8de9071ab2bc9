// The files of the cache that hold programs, with what the file system knows of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::program_cache {

struct ProgramFile {
  std::string key;
  std::uint64_t bytes = 0;
  std::int64_t used_ms = 0;  // wall clock
};

// Least recently used first.
Result<std::vector<ProgramFile>> program_files(const std::filesystem::path& folder);

}  // namespace trainward::program_cache
