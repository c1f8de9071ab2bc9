#include "supervisor/foreign/checkpoint_files.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_names = 10'000;
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

// Entries of `folder` whose name fits; without a wildcard that is at most one, and no reading.
std::vector<fs::path> entries(const fs::path& folder, const std::string& part) {
  std::vector<fs::path> out;
  std::error_code error;
  if (!has_wildcard(part)) {
    if (fs::exists(folder / part, error)) out.push_back(folder / part);
    return out;
  }
  std::size_t looked_at = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (++looked_at > most_names) break;
    if (matches(part, it->path().filename().string())) out.push_back(it->path());
  }
  return out;
}

// The folders in which the last part is to be looked for; `passed` gets those on the way.
std::vector<fs::path> last_folders(const Pattern& pattern, std::vector<fs::path>& passed) {
  std::vector<fs::path> level{pattern.base};
  for (std::size_t i = 0; i + 1 < pattern.parts.size(); ++i) {
    passed.insert(passed.end(), level.begin(), level.end());
    std::vector<fs::path> next;
    for (const fs::path& folder : level) {
      for (fs::path& entry : entries(folder, pattern.parts[i])) {
        std::error_code error;
        if (next.size() < most_folders && fs::is_directory(entry, error)) {
          next.push_back(std::move(entry));
        }
      }
    }
    level = std::move(next);
  }
  return level;
}

bool really_inside(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path base = fs::weakly_canonical(folder, error);
  if (error) return false;
  const fs::path real = fs::weakly_canonical(path, error);
  if (error) return false;
  const auto [end, rest] = std::mismatch(base.begin(), base.end(), real.begin(), real.end());
  return end == base.end() && rest != real.end();
}

std::optional<CheckpointFile> look_at(const fs::path& path, const fs::path& base) {
  const auto step = step_in_name(path.filename().string());
  struct stat info {};
  if (!step || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (!really_inside(path, base)) return std::nullopt;
  return CheckpointFile{path, *step, static_cast<std::uint64_t>(info.st_size),
                        info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec};
}

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

std::vector<CheckpointFile> find_checkpoints(const WatchSpec& spec, const Folders& folders) {
  std::vector<CheckpointFile> found;
  std::set<fs::path> known;
  for (const std::string& glob : spec.checkpoints) {
    const Pattern pattern = pattern_of(glob, folders);
    std::vector<fs::path> passed;
    for (const fs::path& folder : last_folders(pattern, passed)) {
      for (const fs::path& path : entries(folder, pattern.parts.back())) {
        auto file = look_at(path, pattern.base);
        if (file && known.insert(path).second) found.push_back(std::move(*file));
      }
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
