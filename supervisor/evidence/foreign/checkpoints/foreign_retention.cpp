#include "supervisor/evidence/foreign/checkpoints/foreign_retention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/os/folder.hpp"
#include "common/os/folder_removal.hpp"
#include "supervisor/evidence/foreign/checkpoints/verify.hpp"

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;

constexpr int least_kept = 2;
constexpr std::string_view pinned = "PINNED";
constexpr const char* removing = ".trainward-removing-";

// Empty: done, or it was gone; else why not.
std::string remove(const fs::path& path, const Folders& folders) {
  if (!lies_inside(path, folders)) return "lies elsewhere now";
  const auto folder = Folder::open(path.parent_path());
  if (!folder) return folder.error().message();
  const std::string name = path.filename().string();
  if (const auto there = folder->look(name); there && !*there) return "";
  auto gone = folder->rename(name, removing + name);
  if (gone) gone = folder->remove_tree(removing + name);
  return gone ? "" : gone.error().message();
}

// Those that were cut off.
void finish_removals(const fs::path& folder) {
  each_entry(folder, std::string(removing) + "*",
             [&](const std::string& name) { (void)remove_tree(folder / name); });
}

bool is_pinned(const Candidate& candidate) {
  std::error_code error;
  return !candidate.folders.empty() && fs::exists(candidate.path / pinned, error);
}

bool is_link(const fs::path& path) {
  std::error_code error;
  return fs::is_symlink(path, error);
}

}  // namespace

Pruned prune(const WatchSpec& spec, const Folders& folders, const Retention& retention) {
  Pruned out;
  std::map<std::int64_t, std::vector<Candidate>, std::greater<>> by_step;
  for (Candidate& candidate : find_checkpoints(spec, folders, retention.since_ns).candidates) {
    if (candidate.step) by_step[*candidate.step].push_back(std::move(candidate));
  }
  int good = 0;
  std::set<fs::path> seen;
  for (const auto& [step, candidates] : by_step) {
    if (good < std::max(retention.keep, least_kept)) {
      const bool verifies =
          std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
            return verify_foreign(candidate.path, folders).has_value();
          });
      if (verifies) ++good;
      continue;
    }
    if (retention.keep_every > 0 && step % retention.keep_every == 0) continue;
    for (const Candidate& candidate : candidates) {
      const bool held = std::find(retention.held.begin(), retention.held.end(), candidate.path) !=
                        retention.held.end();
      if (held || is_link(candidate.path) || is_pinned(candidate)) continue;
      const fs::path folder = candidate.path.parent_path();
      if (seen.insert(folder).second) finish_removals(folder);
      const std::string problem = remove(candidate.path, folders);
      if (problem.empty()) {
        out.removed.push_back(candidate.path);
      } else {
        out.problems.push_back(fmt::format("{}: {}", candidate.path.string(), problem));
      }
    }
  }
  return out;
}

}  // namespace trainward::foreign
