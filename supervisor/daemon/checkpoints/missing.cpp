#include "supervisor/daemon/checkpoints/missing.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace trainward::daemon {
namespace {

namespace fs = std::filesystem;

fs::path folder_path(const fs::path& checkpoint) {
  return checkpoint.has_filename() ? checkpoint.parent_path()
                                   : checkpoint.parent_path().parent_path();
}

}  // namespace

std::string folder_of(const fs::path& checkpoint) {
  struct stat info {};
  if (checkpoint.empty() || ::stat(folder_path(checkpoint).c_str(), &info) != 0) return {};
  return fmt::format("{}:{}", info.st_dev, info.st_ino);
}

std::optional<Gone> missing(const Kept& kept, const checkpoint::Selection& selection) {
  if (kept.path.empty()) return std::nullopt;
  if (selection.chosen && kept.step > 0 && selection.chosen->step >= kept.step) return std::nullopt;
  // It is damaged, and was set aside.
  const bool rejected = std::ranges::any_of(
      selection.rejected,
      [&](const checkpoint::Rejected& bad) { return bad.original == kept.path; });
  struct stat info {};
  if (rejected || ::lstat(kept.path.c_str(), &info) == 0) return std::nullopt;
  const int why = errno;
  const std::string folder = folder_path(kept.path).string();
  const std::string was =
      kept.step > 0
          ? fmt::format("step {} was verified in {}", kept.step, folder)
          : fmt::format("a checkpoint was {} in {}", kept.verified ? "verified" : "saved", folder);
  if (why != ENOENT && why != ENOTDIR) {
    return Gone{fmt::format("{}, which cannot be looked at: {}", was, std::strerror(why))};
  }
  const std::string now = folder_of(kept.path);
  if (now.empty()) return Gone{was + ", which is not there now"};
  if (!kept.verified) return std::nullopt;
  if (!kept.folder.empty() && now != kept.folder) {
    return Gone{was +
                ", and another folder is there now: its file system is not mounted, or another is"};
  }
  if (selection.chosen || !kept.told) return std::nullopt;
  return Gone{was + ", and no checkpoint is left there", true};
}

}  // namespace trainward::daemon
