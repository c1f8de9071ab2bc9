// File systems whose changes are not all told by inotify: other hosts write to them, or layers
// below.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace trainward::daemon {

// Its name when `path` lies on one: "nfs", "overlay", …
std::optional<std::string> silent_file_system(const std::filesystem::path& path);

}  // namespace trainward::daemon
