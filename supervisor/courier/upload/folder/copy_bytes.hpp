// Bytes from one open file to another: inside the kernel where the file systems can, at no more
// than a given speed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "common/base/error.hpp"
#include "supervisor/courier/upload/target/target.hpp"
#include "supervisor/courier/upload/target/target_options.hpp"

namespace trainward::upload {

// fail_errno() of a place that may be behind a network: kind transient also for what a file system
// answers while it is away.
tl::unexpected<Error> fail_io(int error, std::string_view action,
                              const std::filesystem::path& where);

// `size` bytes from `from` on, of both files. Kind corrupt: the source ends before; transient:
// stopped, or there is no room. `where` is the copy, for errors.
Status copy_bytes(int source, int copy, std::int64_t from, std::int64_t size,
                  const TargetOptions& options, const std::filesystem::path& where,
                  const Progress& progress);

}  // namespace trainward::upload
