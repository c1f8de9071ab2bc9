#include "supervisor/evidence/foreign/checkpoints/checkpoint_pattern.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

namespace trainward::foreign {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_names = 1'000'000;
constexpr std::size_t most_folders = 64;
constexpr std::string_view in_checkpoint_dir = "{checkpoint_dir}/";

std::string_view without_slash(std::string_view glob) {
  while (glob.ends_with('/')) glob.remove_suffix(1);
  return glob;
}

// What stands in patterns of other languages, and what to write here.
struct Foreign {
  std::string_view mark;
  std::string_view why;
};
constexpr std::array foreign_marks{
    Foreign{"\\d", "'\\d' is of regular expressions; here '*' stands for any characters"},
    Foreign{".*", "'.*' asks for a dot; '*' alone stands for any characters"},
    Foreign{".+", "'.+' asks for a dot and a plus; '*' alone stands for any characters"},
    Foreign{"(", "'(' stands for itself here; '*' alone stands for any characters"},
    Foreign{"|", "'|' stands for itself here; write two patterns"},
    Foreign{"^", "'^' stands for itself here; a pattern is about the whole name"},
    Foreign{"$", "'$' stands for itself here; a pattern is about the whole name"},
    Foreign{"%d", "'%d' stands for itself here; write '*'"},
    Foreign{"{",
            "'{' stands for itself here; write '*' for what changes, and two patterns for "
            "two endings"},
};

}  // namespace

Status check_glob(std::string_view glob) {
  const std::string_view whole = glob;
  if (glob.starts_with(in_checkpoint_dir)) glob.remove_prefix(in_checkpoint_dir.size());
  const fs::path path(without_slash(glob));
  const bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
  if (path.empty() || fs::path(glob).is_absolute() || climbs || path.filename() == "." ||
      glob.find('\0') != std::string_view::npos) {
    return fail(ErrorKind::usage,
                fmt::format("expected a pattern of files or folders inside the program's directory "
                            "or {{checkpoint_dir}}/, found '{}'",
                            whole));
  }
  if (glob.find("**") != std::string_view::npos) {
    return fail(ErrorKind::usage,
                fmt::format("'**' is not read, since a whole tree would be searched again and "
                            "again, found '{}'; name the folders, with one '*' for each that has "
                            "many names: 'runs/*/checkpoints/*.pt'",
                            whole));
  }
  return {};
}

std::string doubt_of_glob(std::string_view glob) {
  if (glob.starts_with(in_checkpoint_dir)) glob.remove_prefix(in_checkpoint_dir.size());
  for (const Foreign& other : foreign_marks) {
    if (glob.find(other.mark) != std::string_view::npos) return std::string(other.why);
  }
  // An unclosed bracket is a plain one, and so is whatever follows it.
  if (glob.find('[') != std::string_view::npos && glob.find(']') == std::string_view::npos) {
    return "'[' has no ']' and stands for itself";
  }
  return {};
}

Pattern pattern_of(std::string_view glob, const Folders& folders) {
  Pattern out{folders.directory, {}};
  if (glob.starts_with(in_checkpoint_dir)) {
    out.base = folders.checkpoint_dir;
    glob.remove_prefix(in_checkpoint_dir.size());
  }
  for (const fs::path& part : fs::path(without_slash(glob)).lexically_normal()) {
    out.parts.push_back(part.string());
  }
  return out;
}

bool would_find(const std::vector<std::string>& globs, const Folders& folders,
                const fs::path& path) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    const Pattern pattern = pattern_of(glob, folders);
    const fs::path rest = path.lexically_relative(pattern.base);
    return std::equal(
        pattern.parts.begin(), pattern.parts.end(), rest.begin(), rest.end(),
        [](const std::string& part, const fs::path& name) { return matches(part, name.string()); });
  });
}

bool has_wildcard(std::string_view part) {
  return part.find_first_of("*?[\\") != std::string_view::npos;
}

bool matches(const std::string& part, const std::string& name) {
  return ::fnmatch(part.c_str(), name.c_str(), FNM_PERIOD) == 0;
}

void each_entry(const fs::path& folder, const std::string& part,
                const std::function<void(const std::string&)>& visit) {
  if (!has_wildcard(part)) return visit(part);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  if (!open) return;
  std::size_t looked_at = 0;
  while (const dirent* entry = ::readdir(open.get())) {
    if (++looked_at > most_names) break;
    if (matches(part, entry->d_name)) visit(entry->d_name);
  }
}

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

// ---- where something really lies ----

bool lies_below(const fs::path& path, const fs::path& base) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return !error && real != base &&
         std::mismatch(base.begin(), base.end(), real.begin(), real.end()).first == base.end();
}

bool lies_inside(const fs::path& path, const Folders& folders) {
  const auto really_below = [&](const fs::path& folder) {
    std::error_code error;
    const fs::path base = fs::weakly_canonical(folder, error);
    return !error && lies_below(path, base);
  };
  return really_below(folders.directory) ||
         (!folders.checkpoint_dir.empty() && really_below(folders.checkpoint_dir));
}

}  // namespace trainward::foreign
