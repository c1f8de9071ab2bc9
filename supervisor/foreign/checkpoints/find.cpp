#include "supervisor/foreign/checkpoints/find.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "common/os/fd.hpp"
#include "supervisor/foreign/checkpoints/parts.hpp"
#include "supervisor/foreign/checkpoints/step.hpp"

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_passed_over = 16;

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

}  // namespace

Found find_checkpoints(const WatchSpec& spec, const Folders& folders, std::int64_t since_ns) {
  Found found;
  std::unordered_set<std::string> known;
  for (const std::string& glob : spec.checkpoints) {
    const Pattern pattern = pattern_of(glob, folders);
    std::error_code error;
    const fs::path base = fs::weakly_canonical(pattern.base, error);
    if (error) continue;
    std::vector<fs::path> passed;
    for (const fs::path& folder : last_folders(pattern, passed)) {
      FolderLook look(pattern, folder, base);
      each_entry(folder, pattern.parts.back(), [&](const std::string& name) {
        if (known.insert((folder / name).native()).second) look.take(name, since_ns, found);
      });
    }
  }
  sort_newest_first(found.candidates);
  return found;
}

void sort_newest_first(std::vector<Candidate>& candidates) {
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(b.step, b.modified_ns, b.path) < std::tie(a.step, a.modified_ns, a.path);
  });
}

}  // namespace trainward::foreign
