#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "checkpoint/format/names.hpp"
#include "checkpoint/retention.hpp"
#include "common/file.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

bool is_there(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

Status require_checkpoint(const fs::path& folder) {
  if (is_there(folder / name::manifest)) return {};
  return fail(ErrorKind::usage, "is no checkpoint", folder.string(),
              "name a folder such as step-00001234");
}

}  // namespace

bool is_pinned(const fs::path& folder) { return is_there(folder / name::pinned); }

Status pin(const fs::path& folder, const std::string& reason) {
  if (auto ok = require_checkpoint(folder); !ok) return ok;
  return write_file_durably(folder / name::pinned, reason + "\n");
}

Status unpin(const fs::path& folder) {
  if (auto ok = require_checkpoint(folder); !ok) return ok;
  const fs::path mark = folder / name::pinned;
  if (::unlink(mark.c_str()) != 0) {
    if (errno == ENOENT) return {};
    return fail_errno(errno, "remove the file", mark.string());
  }
  return fsync_folder(folder);
}

}  // namespace trainward::checkpoint
