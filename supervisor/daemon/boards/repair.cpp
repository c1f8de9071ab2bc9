#include "supervisor/daemon/boards/repair.hpp"

#include <system_error>

#include "supervisor/config/launch_environment.hpp"

namespace trainward::daemon {

std::vector<std::filesystem::path> folders_to_purge(const Paths& paths, const core::State& state,
                                                    const std::string& serial,
                                                    const config::Program& program) {
  const std::string own = config::own_cache(program);
  const auto rung = state.history.rungs.find(core::Cause::cache_corrupt);
  const bool first = rung != state.history.rungs.end() && rung->second == 1;
  std::error_code missing;
  const auto kernels = paths.kernels_cache(serial, own);
  const bool kernels_exist = !std::filesystem::is_empty(kernels, missing) && !missing;
  if (program.command.empty() && state.history.last_cause == core::Cause::cache_corrupt && first &&
      kernels_exist)
    return {kernels};
  return paths.caches(serial, own);
}

std::string purge_folders(const std::vector<std::filesystem::path>& folders) {
  std::string trouble;
  for (const auto& folder : folders) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code stays;
      std::filesystem::remove_all(entry->path(), stays);
      if (stays) trouble = entry->path().string() + ": " + stays.message();
    }
    if (error && error != std::errc::no_such_file_or_directory) {
      trouble = folder.string() + ": " + error.message();
    }
  }
  return trouble;
}

}  // namespace trainward::daemon
