#include <algorithm>

#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/progress.hpp"
#include "checkpoint/retention.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr int least_kept = 2;

bool is_held(const fs::path& folder, const std::vector<fs::path>& held) {
  const std::string name = last_component(folder);
  return std::any_of(held.begin(), held.end(),
                     [&](const fs::path& path) { return last_component(path) == name; });
}

bool is_milestone(const fs::path& folder, std::int64_t every) {
  const auto step = step_from_name(last_component(folder));
  return every > 0 && step && *step % every == 0;
}

// What cannot be read now does not count either, so more is kept. An error: the progress receiver
// asked to stop.
Result<bool> is_good(const fs::path& folder, const Retention& retention) {
  if (retention.known_good && retention.known_good(folder)) return true;
  Status ended;
  const bool good =
      verify(folder, {noting_end(retention.io.progress, ended), retention.io.make_queue})
          .has_value();
  if (!ended) return propagate(ended);
  return good;
}

}  // namespace

Result<Pruned> prune(const fs::path& root, const Retention& retention, bool dry_run) {
  if (!dry_run) clean_up(root);
  auto folders = step_folders(root);
  if (!folders) return propagate(folders);
  int good = 0;
  Pruned pruned;
  for (const fs::path& folder : *folders) {
    if (good < std::max(retention.keep, least_kept)) {
      auto verdict = is_good(folder, retention);
      if (!verdict) return propagate(verdict);
      if (*verdict) ++good;
      continue;
    }
    if (is_held(folder, retention.held) || is_milestone(folder, retention.keep_every) ||
        is_pinned(folder)) {
      continue;
    }
    auto removed = dry_run ? can_remove(folder) : remove_checkpoint(folder);
    if (!removed) return propagate(removed);
    (*removed ? pruned.removed : pruned.in_use).push_back(folder);
  }
  return pruned;
}

}  // namespace trainward::checkpoint
