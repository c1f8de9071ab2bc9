#include "supervisor/evidence/foreign/checkpoints/find.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "common/os/fd.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_step.hpp"
#include "supervisor/evidence/foreign/checkpoints/parts.hpp"

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_passed_over = 16;
constexpr std::size_t most_candidates = 20'000;
constexpr std::size_t most_path_bytes = 8 * 1024 * 1024;  // of the candidates and folders in them
constexpr std::size_t most_known = 200'000;

// Names of one folder that fit. What is no link lies where its folder does, so that is asked once.
class FolderLook {
 public:
  FolderLook(const Pattern& pattern, const fs::path& folder, const fs::path& base)
      : pattern_(pattern),
        folder_(folder),
        base_(base),
        fd_(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    inside_ = fd_ && !error &&
              std::mismatch(base.begin(), base.end(), real.begin(), real.end()).first == base.end();
    for (const fs::path& part : folder.lexically_relative(pattern.base)) {
      if (part != ".") names_.push_back(part.string());
    }
    names_.emplace_back();
  }

  void take(const std::string& name, std::int64_t since_ns, Found& found) {
    struct stat info {};
    if (says_temporary(name) || name == "." || name == "..") return;
    if (!inside_ || ::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    const fs::path path = folder_ / name;
    if (S_ISLNK(info.st_mode)) {
      if (::fstatat(fd_.get(), name.c_str(), &info, 0) != 0) return;  // leads nowhere
      if (!lies_below(path, base_)) return pass(path, "a link leads out of its folder", found);
    }
    Candidate candidate{path, {}, 0, 0, info.st_ino, {}};
    if (S_ISREG(info.st_mode)) {
      candidate.bytes = static_cast<std::uint64_t>(info.st_size);
      candidate.modified_ns = modified_ns(info);
    } else if (S_ISDIR(info.st_mode)) {
      auto parts = parts_of(path);
      if (!parts) return pass(path, parts.error().what, found);
      candidate.bytes = parts->bytes;
      candidate.modified_ns = parts->modified_ns;
      candidate.folders = std::move(parts->folders);
    } else {
      return pass(path, "is neither a file nor a folder", found);
    }
    if (candidate.modified_ns < since_ns) return;
    names_.back() = name;
    candidate.step = step_in_path(pattern_.parts, names_);
    found.candidates.push_back(std::move(candidate));
  }

 private:
  static void pass(const fs::path& path, std::string reason, Found& found) {
    if (found.passed_over.size() >= most_passed_over) return;
    found.passed_over.push_back({path, std::move(reason)});
  }

  const Pattern& pattern_;
  const fs::path& folder_;
  const fs::path& base_;
  Fd fd_;
  std::vector<std::string>
      names_;  // that matched the pattern's parts; the last is what is looked at
  bool inside_ = false;
};

std::size_t path_bytes(const Candidate& candidate) {
  std::size_t bytes = candidate.path.native().size();
  for (const fs::path& folder : candidate.folders) bytes += folder.native().size();
  return bytes;
}

// Keeps the newest of any number, by letting the older half go now and then.
class Newest {
 public:
  explicit Newest(std::vector<Candidate>& candidates) : candidates_(candidates) {}

  // Those that came since the last call.
  void grew() {
    for (; counted_ < candidates_.size(); ++counted_) bytes_ += path_bytes(candidates_[counted_]);
    if (candidates_.size() < 2 * most_candidates && bytes_ < 2 * most_path_bytes) return;
    sort_newest_first(candidates_);
    std::size_t kept = 0;
    for (bytes_ = 0; kept < std::min(candidates_.size(), most_candidates); ++kept) {
      const std::size_t more = path_bytes(candidates_[kept]);
      if (kept > 0 && bytes_ + more > most_path_bytes) break;
      bytes_ += more;
    }
    candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(kept), candidates_.end());
    counted_ = kept;
  }

 private:
  std::vector<Candidate>& candidates_;
  std::size_t counted_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

Found find_checkpoints(const WatchSpec& spec, const Folders& folders, std::int64_t since_ns) {
  Found found;
  Newest newest(found.candidates);
  std::unordered_set<std::size_t> known;  // of several patterns one is enough
  const auto is_new = [&](const fs::path& path) {
    return spec.checkpoints.size() < 2 || known.size() >= most_known ||
           known.insert(fs::hash_value(path)).second;
  };
  for (const std::string& glob : spec.checkpoints) {
    const Pattern pattern = pattern_of(glob, folders);
    std::error_code error;
    const fs::path base = fs::weakly_canonical(pattern.base, error);
    if (error) continue;
    std::vector<fs::path> passed;
    for (const fs::path& folder : last_folders(pattern, passed)) {
      FolderLook look(pattern, folder, base);
      each_entry(folder, pattern.parts.back(), [&](const std::string& name) {
        if (!is_new(folder / name)) return;
        look.take(name, since_ns, found);
        newest.grew();
      });
    }
  }
  sort_newest_first(found.candidates);
  const auto twice = std::unique(found.candidates.begin(), found.candidates.end());
  found.candidates.erase(twice, found.candidates.end());
  return found;
}

void sort_newest_first(std::vector<Candidate>& candidates) {
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(b.step, b.modified_ns, b.path) < std::tie(a.step, a.modified_ns, a.path);
  });
}

}  // namespace trainward::foreign
