// File patterns of `watch.checkpoints`.
//
// A pattern is relative to the program's directory, or begins with `{checkpoint_dir}/`. `*`, `?`
// and `[…]` stand for characters of one name and never for a '/'; a leading dot must be written. A
// '/' at its end changes nothing: a checkpoint is a file or a folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/evidence/foreign/terms/spec.hpp"

namespace trainward::foreign {

// Kind usage: an absolute path, one that climbs, or no name in it.
Status check_glob(std::string_view glob);

// Why a pattern that check_glob() takes can hardly ever match, and what to write; else empty. It
// may be written in another language of patterns.
std::string doubt_of_glob(std::string_view glob);

struct Pattern {
  std::filesystem::path base;      // the folder it begins at
  std::vector<std::string> parts;  // of folders, then of the checkpoint; at least one
};

Pattern pattern_of(std::string_view glob, const Folders& folders);
// Whether a pattern of the spec fits what lies there, or would.
bool would_find(const std::vector<std::string>& globs, const Folders& folders,
                const std::filesystem::path& path);
bool has_wildcard(std::string_view part);
bool matches(const std::string& part, const std::string& name);

// Calls visit(name) for the entries of `folder` whose name fits, whether they exist or not where
// there is no wildcard: then nothing is read. At most a million names are looked at.
void each_entry(const std::filesystem::path& folder, const std::string& part,
                const std::function<void(const std::string&)>& visit);

// The folders in which the last part is to be looked for; `passed` gets those on the way. At most
// 64 of each level.
std::vector<std::filesystem::path> last_folders(const Pattern& pattern,
                                                std::vector<std::filesystem::path>& passed);

// Every folder in which something of the spec exists or may appear: those along the way as well, so
// that one that is made later is noticed. At most 64.
std::vector<std::filesystem::path> folders_to_watch(const WatchSpec& spec, const Folders& folders);

// Whether a new or changed entry of this name, in one of these folders, can matter.
bool may_matter(const WatchSpec& spec, const std::string& name);

// ---- where something really lies ----

// `base` without links; what of `path` exists is resolved.
bool lies_below(const std::filesystem::path& path, const std::filesystem::path& base);

// Below one of the two folders, by its name and, as far as it exists, by what links lead to.
bool lies_inside(const std::filesystem::path& path, const Folders& folders);

}  // namespace trainward::foreign
