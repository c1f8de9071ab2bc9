// Renaming that never replaces.
#pragma once

#include <filesystem>
#include <system_error>

namespace trainward {

// One rename; std::errc::file_exists when there is something at `to`, on file systems that cannot
// see to that themselves as well.
std::error_code rename_if_free(int from_folder, const char* from, int to_folder, const char* to);
std::error_code rename_if_free(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace trainward
