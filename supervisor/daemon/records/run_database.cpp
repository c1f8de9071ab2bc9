#include "supervisor/daemon/records/run_database.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "common/os/clock.hpp"
#include "supervisor/record/store/damaged_file.hpp"

namespace trainward::daemon {

Result<RunDatabase> open_run_database(const std::filesystem::path& file) {
  std::optional<std::string> why = store::marked_unfit(file);
  if (!why) {
    auto store = store::Store::open(file);
    if (store) return RunDatabase{std::move(*store), std::nullopt};
    if (store.error().kind != ErrorKind::corrupt) return propagate(store);
    why = store.error().what;
  }
  spdlog::error("{}: {}", file.string(), *why);
  auto aside = store::set_aside(file, now().wall.ms);
  if (!aside) return propagate(aside);
  auto fresh = store::Store::open(file);
  if (!fresh) return propagate(fresh);
  return RunDatabase{std::move(*fresh),
                     fmt::format("{}; it was set aside as {}", *why, aside->filename().string())};
}

}  // namespace trainward::daemon
