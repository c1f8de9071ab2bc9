#include "supervisor/foreign/checkpoints/retention.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "common/os/fd.hpp"
#include "supervisor/foreign/checkpoints/verify.hpp"

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;

constexpr int least_kept = 2;
constexpr std::string_view pinned = "PINNED";
constexpr const char* removing = ".trainward-removing-";

// A folder that stays the one it was when it was looked at, whatever its path leads to later.
class Place {
 public:
  Place(const fs::path& folder, const Folders& folders)
      : fd_(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    const fs::path here = path();
    std::error_code error;
    const fs::path real = fd_ ? fs::read_symlink(here, error) : fs::path();
    const auto is_base = [&](const fs::path& base) {
      return !base.empty() && fs::weakly_canonical(base, error) == real;
    };
    inside_ = !real.empty() && (is_base(folders.directory) || is_base(folders.checkpoint_dir) ||
                                lies_inside(real, folders));
  }
  // Empty: done, or it was gone; else why not.
  std::string remove(const std::string& name) const {
    if (!inside_) return "its folder lies elsewhere now";
    struct stat info {};
    if (::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return "";
    if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return "is neither a file nor a folder";
    const std::string aside = removing + name;
    if (::renameat(fd_.get(), name.c_str(), fd_.get(), aside.c_str()) != 0) {
      return std::strerror(errno);
    }
    return erase(aside);
  }
  // Of removals that were cut off.
  void finish_removals() const {
    if (!inside_) return;
    each_entry(path(), std::string(removing) + "*", [&](const std::string& name) { erase(name); });
  }

 private:
  [[nodiscard]] fs::path path() const { return fmt::format("/proc/self/fd/{}", fd_.get()); }
  std::string erase(const std::string& name) const {
    std::error_code error;
    fs::remove_all(path() / name, error);  // follows no link
    return error ? error.message() : "";
  }

  Fd fd_;
  bool inside_ = false;
};

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
  for (Candidate& candidate : find_checkpoints(spec, folders).candidates) {
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
      const Place place(candidate.path.parent_path(), folders);
      if (seen.insert(candidate.path.parent_path()).second) place.finish_removals();
      const std::string problem = place.remove(candidate.path.filename().string());
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
