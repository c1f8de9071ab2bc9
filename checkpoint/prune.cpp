#include <algorithm>

#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/retention.hpp"
#include "checkpoint/verified.hpp"

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

bool is_good(const fs::path& folder, const Retention& retention) {
  if (retention.known_good && retention.known_good(folder)) return true;
  return open_verified(folder, Read::check, {}).has_value();
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
      if (is_good(folder, retention)) ++good;
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
