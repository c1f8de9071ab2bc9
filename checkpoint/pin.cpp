#include <unistd.h>

#include <cerrno>

#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/retention.hpp"
#include "common/base/text.hpp"
#include "common/os/file.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

Status require_checkpoint(const fs::path& folder) {
  if (!identity(folder / name::manifest).empty()) return {};
  return fail(ErrorKind::usage, "is no checkpoint", folder.string(),
              "name a folder such as step-00001234");
}

}  // namespace

bool is_pinned(const fs::path& folder) { return !identity(folder / name::pinned).empty(); }

std::string pinned_because(const fs::path& folder) {
  constexpr std::size_t max_reason_bytes = std::size_t{64} << 10U;
  return std::string(trim(read_file(folder / name::pinned, max_reason_bytes).value_or("")));
}

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
