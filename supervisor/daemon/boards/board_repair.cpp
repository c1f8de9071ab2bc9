#include "supervisor/daemon/boards/board_repair.hpp"

#include <system_error>

#include "common/os/folder.hpp"
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
    std::error_code unknown;
    if (!std::filesystem::exists(folder, unknown) && !unknown) continue;
    const auto opened = Folder::open(folder);
    const Status emptied =
        opened ? opened->remove_contents() : Status(tl::unexpect, opened.error());
    if (!emptied) trouble = emptied.error().message();
  }
  return trouble;
}

}  // namespace trainward::daemon
