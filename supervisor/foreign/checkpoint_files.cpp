#include "supervisor/foreign/checkpoint_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <set>
#include <unordered_set>

#include "common/os/fd.hpp"

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_names = 1'000'000;
constexpr std::size_t most_folders = 64;
constexpr std::string_view in_checkpoint_dir = "{checkpoint_dir}/";

struct Pattern {
  fs::path base;
  std::vector<std::string> parts;  // of folders, then of the file
};

Pattern pattern_of(std::string_view glob, const Folders& folders) {
  Pattern out{folders.directory, {}};
  if (glob.starts_with(in_checkpoint_dir)) {
    out.base = folders.checkpoint_dir;
    glob.remove_prefix(in_checkpoint_dir.size());
  }
  for (const fs::path& part : fs::path(glob).lexically_normal()) out.parts.push_back(part.string());
  return out;
}

bool has_wildcard(std::string_view part) {
  return part.find_first_of("*?[\\") != std::string_view::npos;
}

bool matches(const std::string& part, const std::string& name) {
  return ::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0;
}

// Calls visit(name) for the entries of `folder` whose name fits, whether they exist or not where
// there is no wildcard: then nothing is read.
template <typename Visit>
void each_entry(const fs::path& folder, const std::string& part, const Visit& visit) {
  if (!has_wildcard(part)) return visit(part);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  if (!open) return;
  std::size_t looked_at = 0;
  while (const dirent* entry = ::readdir(open.get())) {
    if (++looked_at > most_names) break;
    if (matches(part, entry->d_name)) visit(std::string(entry->d_name));
  }
}

// The folders in which the last part is to be looked for; `passed` gets those on the way.
std::vector<fs::path> last_folders(const Pattern& pattern, std::vector<fs::path>& passed) {
  std::vector<fs::path> level{pattern.base};
  for (std::size_t i = 0; i + 1 < pattern.parts.size(); ++i) {
    passed.insert(passed.end(), level.begin(), level.end());
    std::vector<fs::path> next;
    for (const fs::path& folder : level) {
      each_entry(folder, pattern.parts[i], [&](const std::string& name) {
        std::error_code error;
        if (name == "." || name == "..") return;
        if (next.size() < most_folders && fs::is_directory(folder / name, error)) {
          next.push_back(folder / name);
        }
      });
    }
    level = std::move(next);
  }
  return level;
}

// Both without links. The same folder is below itself.
bool begins_with(const fs::path& path, const fs::path& base) {
  return std::mismatch(base.begin(), base.end(), path.begin(), path.end()).first == base.end();
}

// `base` without links; what of `path` exists is resolved.
bool lies_below(const fs::path& path, const fs::path& base) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return !error && real != base && begins_with(real, base);
}

bool really_inside(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path base = fs::weakly_canonical(folder, error);
  return !error && lies_below(path, base);
}

// The files of one folder. What is no link lies where its folder does, so that is asked once.
class FolderLook {
 public:
  FolderLook(const fs::path& folder, const fs::path& base)
      : folder_(folder),
        base_(base),
        fd_(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    inside_ = fd_ && !error && begins_with(real, base);
  }
  [[nodiscard]] std::optional<CheckpointFile> file(const std::string& name,
                                                   std::int64_t since_ns) const {
    const auto step = step_in_name(name);
    struct stat info {};
    if (!step || !inside_) return std::nullopt;
    if (::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    if (S_ISLNK(info.st_mode)) {
      if (::fstatat(fd_.get(), name.c_str(), &info, 0) != 0) return std::nullopt;
      if (!lies_below(folder_ / name, base_)) return std::nullopt;
    }
    if (!S_ISREG(info.st_mode)) return std::nullopt;
    const std::int64_t modified_ns = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
    if (modified_ns < since_ns) return std::nullopt;
    return CheckpointFile{folder_ / name, *step, static_cast<std::uint64_t>(info.st_size),
                          modified_ns, info.st_ino};
  }

 private:
  const fs::path& folder_;
  const fs::path& base_;
  Fd fd_;
  bool inside_ = false;
};

}  // namespace

Status check_glob(std::string_view glob) {
  if (glob.starts_with(in_checkpoint_dir)) glob.remove_prefix(in_checkpoint_dir.size());
  const fs::path path(glob);
  const bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
  if (glob.empty() || path.is_absolute() || climbs || !path.has_filename() ||
      glob.find('\0') != std::string_view::npos) {
    return fail(ErrorKind::usage,
                fmt::format("expected a file pattern inside the program's directory or "
                            "{{checkpoint_dir}}/, found '{}'",
                            glob));
  }
  if (glob.find("**") != std::string_view::npos) {
    return fail(ErrorKind::usage,
                fmt::format("'**' is not read, since a whole tree would be searched again and "
                            "again, found '{}'; name the folders, with one '*' for each that has "
                            "many names: 'runs/*/checkpoints/*.pt'",
                            glob));
  }
  return {};
}

std::optional<std::int64_t> step_in_name(std::string_view name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (const auto dot = name.rfind('.'); dot != std::string_view::npos && dot > 0) {
    name = name.substr(0, dot);
  }
  std::size_t at = std::string_view::npos;
  if (const auto word = name.rfind("step"); word != std::string_view::npos) {
    std::size_t behind = word + 4;
    while (behind < name.size() &&
           std::string_view("-_=s").find(name[behind]) != std::string_view::npos) {
      ++behind;
    }
    if (behind < name.size() && digit(name[behind])) at = behind;
  }
  if (at == std::string_view::npos) {
    at = name.find_last_of("0123456789");
    if (at == std::string_view::npos) return std::nullopt;
    while (at > 0 && digit(name[at - 1])) --at;
  }
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data() + at, name.data() + name.size(), step);
  if (error != std::errc() || step > 1'000'000'000'000) return std::nullopt;
  return step;
}

std::vector<CheckpointFile> find_checkpoints(const WatchSpec& spec, const Folders& folders,
                                             std::int64_t since_ns) {
  std::vector<CheckpointFile> found;
  std::unordered_set<std::string> known;
  for (const std::string& glob : spec.checkpoints) {
    const Pattern pattern = pattern_of(glob, folders);
    std::error_code error;
    const fs::path base = fs::weakly_canonical(pattern.base, error);
    if (error) continue;
    std::vector<fs::path> passed;
    for (const fs::path& folder : last_folders(pattern, passed)) {
      const FolderLook look(folder, base);
      each_entry(folder, pattern.parts.back(), [&](const std::string& name) {
        auto file = look.file(name, since_ns);
        if (file && known.insert(file->path.native()).second) found.push_back(std::move(*file));
      });
    }
  }
  std::sort(found.begin(), found.end(), [](const CheckpointFile& a, const CheckpointFile& b) {
    return std::tie(b.step, b.modified_ns, b.path) < std::tie(a.step, a.modified_ns, a.path);
  });
  return found;
}

std::vector<fs::path> folders_to_watch(const WatchSpec& spec, const Folders& folders) {
  std::set<fs::path> found;
  const auto add = [&](const Pattern& pattern) {
    std::vector<fs::path> passed;
    for (const fs::path& folder : last_folders(pattern, passed)) passed.push_back(folder);
    for (const fs::path& folder : passed) {
      std::error_code error;
      if (found.size() < most_folders && fs::is_directory(folder, error)) found.insert(folder);
    }
  };
  if (!spec.status_file.empty()) {
    Pattern pattern{folders.directory, {}};
    for (const fs::path& part : spec.status_file) pattern.parts.push_back(part.string());
    add(pattern);
  }
  for (const std::string& glob : spec.checkpoints) add(pattern_of(glob, folders));
  return {found.begin(), found.end()};
}

bool may_matter(const WatchSpec& spec, const std::string& name) {
  if (name.empty()) return true;
  for (const fs::path& part : spec.status_file) {
    if (part != spec.status_file.filename() && part == name) return true;
  }
  for (const std::string& glob : spec.checkpoints) {
    const Pattern pattern = pattern_of(glob, {});
    for (const std::string& part : pattern.parts) {
      if (matches(part, name)) return true;
    }
  }
  return false;
}

bool lies_inside(const fs::path& path, const Folders& folders) {
  return really_inside(path, folders.directory) ||
         (!folders.checkpoint_dir.empty() && really_inside(path, folders.checkpoint_dir));
}

}  // namespace trainward::foreign
