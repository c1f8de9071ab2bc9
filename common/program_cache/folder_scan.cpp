#include "common/program_cache/folder_scan.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <tuple>

#include "common/program_cache/cache_names.hpp"

namespace trainward::program_cache {

Result<std::vector<ProgramFile>> program_files(const std::filesystem::path& folder) {
  std::vector<ProgramFile> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::string key(key_of(name, program_suffix));
    struct stat info {};
    // One that is gone by now has been removed by another process.
    if (key.empty() || ::lstat(entry->path().c_str(), &info) != 0) continue;
    files.push_back(
        {key, static_cast<std::uint64_t>(info.st_size),
         static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1000 + info.st_mtim.tv_nsec / 1'000'000});
  }
  if (error) return fail_errno(error.value(), "read the folder", folder.string());
  std::sort(files.begin(), files.end(), [](const ProgramFile& a, const ProgramFile& b) {
    return std::tie(a.used_ms, a.key) < std::tie(b.used_ms, b.key);
  });
  return files;
}

}  // namespace trainward::program_cache
