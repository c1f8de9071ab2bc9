#include "common/os/folder_removal.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "common/os/folder.hpp"
#include "common/os/listing.hpp"

namespace trainward {
namespace {

constexpr int most_swaps = 8;    // of a name, while it is being removed
constexpr int most_nested = 16;  // folders that cannot be moved up, one in the other

int open_inner(int folder, const char* name) {
  return ::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// 0: it is gone. ENOTEMPTY: a folder, and no mount point (which would be EBUSY), with something in
// it.
int remove_entry(int folder, const char* name) {
  for (int i = 0; i < most_swaps; ++i) {
    if (::unlinkat(folder, name, 0) == 0 || errno == ENOENT) return 0;
    if (errno != EISDIR) return errno;
    if (::unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
    if (errno != ENOTDIR) return errno == EEXIST ? ENOTEMPTY : errno;
  }
  return EAGAIN;
}

// Empties one folder.
class Removal {
 public:
  Removal(int top, std::filesystem::path path) : top_(top), path_(std::move(path)) {
    (void)::getrandom(&series_, sizeof series_, GRND_NONBLOCK);
  }

  // A listing may leave out what appears or goes meanwhile, and what could not go may be able to
  // later: it is read until nothing is in it, or nothing more can go.
  Status run() {
    Listing entries(top_);
    if (!entries) return fail_errno(errno, "read the folder", path_.string());
    for (bool any = true; any;) {
      any = false;
      gone_ = 0;
      problem_ = {};
      entries.rewind();
      while (const char* name = entries.next()) {
        any = true;
        follow(name);
      }
      if (errno != 0) return fail_errno(errno, "read the folder", path_.string());
      if (any && gone_ == 0) return problem_;
    }
    return {};
  }

 private:
  // An entry of the topmost folder, then of what was moved up out of it the last one: a chain of
  // folders goes in one pass.
  void follow(std::string name) {
    for (std::optional<std::string> at = std::move(name); at;) {
      const int left = remove_entry(top_, at->c_str());
      if (left == ENOTEMPTY) {
        at = empty(top_, *at, *at, 0);
        continue;
      }
      note(left, *at);
      return;
    }
  }

  // What was moved up last.
  std::optional<std::string> empty(int folder, const std::string& name, const std::string& place,
                                   int depth) {
    const Fd fd(open_inner(folder, name.c_str()));
    Listing entries(fd ? fd.get() : -1);
    if (!entries) {
      note(errno, place);
      return std::nullopt;
    }
    std::optional<std::string> last;
    while (const char* entry = entries.next()) {
      int left = remove_entry(fd.get(), entry);
      if (left == ENOTEMPTY) {
        std::string fresh = fmt::format(".removing-{:016x}-{}", series_, ++moved_);
        if (::renameat(fd.get(), entry, top_, fresh.c_str()) == 0) {
          left = 0;
          last = std::move(fresh);
        } else if (errno == EXDEV && depth < most_nested) {
          // A folder of a lower layer of an overlay, or a subvolume, stays in its place.
          const std::string inner = entry;
          (void)empty(fd.get(), inner, fmt::format("{}/{}", place, inner), depth + 1);
          continue;
        } else {
          left = errno;
        }
      }
      note(left, fmt::format("{}/{}", place, entry));
    }
    if (errno != 0) note(errno, place);
    if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0) ++gone_;
    return last;
  }

  void note(int left, const std::string& place) {
    if (left == 0) {
      ++gone_;
    } else if (problem_) {
      problem_ = fail_errno(left, left == EBUSY ? "remove a mount point" : "remove",
                            (path_ / place).string());
    }
  }

  int top_;
  std::filesystem::path path_;
  std::uint64_t series_ = 0;
  std::uint64_t moved_ = 0;
  std::uint64_t gone_ = 0;  // in this pass: removed, or moved up
  Status problem_;          // in this pass: the first
};

}  // namespace

Status Folder::remove_tree(const std::string& name) const {
  auto at = place(name);
  if (!at) return propagate(at);
  int left = 0;
  for (int i = 0; i < most_swaps; ++i) {
    left = remove_entry(at->folder, at->last.c_str());
    if (left == 0) return {};
    if (left != ENOTEMPTY) break;
    const Fd top(open_inner(at->folder, at->last.c_str()));
    if (!top && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) continue;  // exchanged
    if (!top) return fail_errno(errno, "open the folder", (path_ / name).string());
    if (auto ok = Removal(top.get(), path_ / name).run(); !ok) return ok;
  }
  return fail_errno(left, left == EBUSY ? "remove a mount point" : "remove",
                    (path_ / name).string());
}

Status Folder::remove_contents() const { return Removal(fd_.get(), path_).run(); }

Status remove_tree(const std::filesystem::path& path) {
  const std::filesystem::path plain = path.has_filename() ? path : path.parent_path();
  const auto parent = plain.has_parent_path() ? plain.parent_path() : std::filesystem::path(".");
  auto folder = Folder::open(parent);
  if (folder) return folder->remove_tree(plain.filename().string());
  std::error_code error;
  const bool missing = !std::filesystem::exists(parent, error) && !error;
  return missing ? Status() : propagate(folder);
}

}  // namespace trainward
