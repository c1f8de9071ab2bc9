// Bytes from one open file to another: inside the kernel where the file systems can, at no more
// than a given speed.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/base/error.hpp"
#include "supervisor/upload/target.hpp"
#include "supervisor/upload/target_options.hpp"

namespace trainward::upload {

// `size` bytes from `from` on, of both files. Kind corrupt: the source ends before; transient:
// stopped, or there is no room. `where` is the copy, for errors.
Status copy_bytes(int source, int copy, std::int64_t from, std::int64_t size,
                  const TargetOptions& options, const std::filesystem::path& where,
                  const Progress& progress);

}  // namespace trainward::upload
