#include "checkpoint/disk/root_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>

#include "checkpoint/format/names.hpp"
#include "common/os/file.hpp"
#include "common/os/folder_removal.hpp"
#include "common/os/rename.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr int max_names = 10'000;  // tried until one is free
constexpr std::size_t most_steps = 20'000;

bool is_there(const fs::path& path) { return !identity(path).empty(); }

Result<Fd> open_real_folder(const fs::path& path) {
  return open_file(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

// False only when another process holds the lock. A file system without locks cannot tell.
enum class Lock { held, taken, unknown };
Lock lock(const Fd& folder) {
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return Lock::held;
  return errno == EWOULDBLOCK ? Lock::taken : Lock::unknown;
}

bool was_removed(const Fd& folder) {
  struct stat info {};
  return ::fstat(folder.get(), &info) == 0 && info.st_nlink == 0;
}

tl::unexpected<Error> not_renamed(int error, const fs::path& from, const fs::path& to) {
  return fail_errno(error, fmt::format("rename the folder to '{}'", to.filename().string()),
                    from.string());
}

Status rename_folder(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return not_renamed(errno, from, to);
}

// For file systems without the flags of renameat2, and where it is not allowed: between the first
// and the second rename `folder` is missing, which clean_up() repairs after a crash.
Result<bool> move_in_by_steps(const fs::path& temporary, const fs::path& folder) {
  const fs::path old =
      folder.parent_path() / (std::string(name::replaced) + folder.filename().string());
  const bool replaced = ::rename(folder.c_str(), old.c_str()) == 0;
  if (!replaced && errno != ENOENT) {
    return fail_errno(errno, "rename the previous folder aside", folder.string());
  }
  if (::rename(temporary.c_str(), folder.c_str()) != 0) {
    const int problem = errno;
    if (replaced) ::rename(old.c_str(), folder.c_str());
    return fail_errno(problem, "rename the finished folder into place", folder.string());
  }
  if (replaced && ::rename(old.c_str(), temporary.c_str()) != 0 && errno != ENOENT) {
    return fail_errno(errno, "rename the previous folder", old.string());
  }
  return replaced;
}

template <typename Visit>
Status for_each_entry(const fs::path& root, Visit visit) {
  std::error_code error;
  fs::directory_iterator entries(root, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    visit(entries->path(), entries->path().filename().string());
  }
  if (error) return fail_errno(error.value(), "list the folder", root.string());
  return {};
}

void remove_leftover(const fs::path& path) {
  auto folder = open_real_folder(path);
  if (!folder || lock(*folder) != Lock::held) return;
  // It may be what a replacement left: until its renames are on the disk, a crash may want it back.
  if (!fsync_folder(path.parent_path())) return;
  (void)remove_tree(path);
}

void finish_replacement(const fs::path& old, std::string_view name) {
  const fs::path folder = old.parent_path() / name.substr(name::replaced.size());
  if (is_there(folder)) {
    remove_leftover(old);
  } else {
    (void)rename_folder(old, folder);
  }
}

}  // namespace

std::string identity(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  return fmt::format("{}:{}", info.st_dev, info.st_ino);
}

Status make_root(const fs::path& root) {
  std::vector<fs::path> parents;  // of folders that do not exist yet
  std::error_code error;
  const fs::path absolute = fs::absolute(root, error);
  if (error) return fail_errno(error.value(), "find the folder", root.string());
  for (fs::path at = absolute; !at.empty() && at != at.root_path() && !fs::exists(at, error);
       at = at.parent_path()) {
    parents.push_back(at.parent_path());
  }
  if (auto ok = make_folders(absolute); !ok) return ok;
  for (const fs::path& parent : parents) {
    if (auto ok = fsync_folder(parent); !ok) return ok;
  }
  return {};
}

Result<Temporary> make_temporary(const fs::path& root, std::int64_t step) {
  for (int i = 0; i < max_names; ++i) {
    const fs::path path =
        root / fmt::format("{}{}-{}-{}", name::temporary, step_name(step), ::getpid(), i);
    if (::mkdir(path.c_str(), 0750) != 0) {
      if (errno == EEXIST) continue;
      return fail_errno(errno, "create the folder", path.string(),
                        "the checkpoint folder must be writable and have free space");
    }
    auto fd = open_real_folder(path);
    // A cleanup may have run before the lock was taken: the name is then no longer ours.
    if (fd && lock(*fd) != Lock::taken && !was_removed(*fd)) return Temporary{path, std::move(*fd)};
    if (!fd && is_there(path)) return propagate(fd);
  }
  return fail(ErrorKind::transient, "cannot find a free name for a temporary folder", root.string(),
              fmt::format("remove the '{}*' folders in it", name::temporary));
}

Result<bool> move_in(const fs::path& temporary, const fs::path& folder) {
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, folder.c_str(), RENAME_NOREPLACE) == 0) {
    return false;
  }
  if (errno == EEXIST &&
      ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    return true;
  }
  if (errno == EINVAL || errno == ENOSYS || errno == EPERM)
    return move_in_by_steps(temporary, folder);
  return fail_errno(errno, "rename the finished folder into place", folder.string());
}

Result<bool> can_remove(const fs::path& folder) {
  auto fd = open_real_folder(folder);
  if (!fd) return propagate(fd);
  return lock(*fd) != Lock::taken;
}

Result<bool> remove_checkpoint(const fs::path& folder) {
  const fs::path root = folder.parent_path();
  auto fd = open_real_folder(folder);
  if (!fd) return propagate(fd);
  // While we hold the lock, no other process takes the renamed folder for a leftover and removes
  // it.
  if (lock(*fd) == Lock::taken) return false;
  const std::string name = folder.filename().string();
  for (int i = 0; i < max_names; ++i) {
    const fs::path aside = root / fmt::format("{}removed-{}-{}", name::temporary, name, i);
    if (is_there(aside)) continue;
    if (auto ok = rename_folder(folder, aside); !ok) return propagate(ok);
    // First its name, then its files: else a crash could bring back the name without them.
    if (auto ok = fsync_folder(root); !ok) return propagate(ok);
    if (auto ok = remove_tree(aside); !ok) return propagate(ok);
    return true;
  }
  return fail(ErrorKind::permanent, "cannot find a free name to remove it", folder.string());
}

Status move_to_free_name(const fs::path& from, const fs::path& to) {
  if (const auto error = rename_if_free(from, to)) return not_renamed(error.value(), from, to);
  return {};
}

Result<fs::path> set_aside(const fs::path& folder, std::string_view prefix) {
  const std::string name = std::string(prefix) + folder.filename().string();
  for (int i = 1; i <= max_names; ++i) {
    const fs::path aside = folder.parent_path() / (i == 1 ? name : fmt::format("{}-{}", name, i));
    if (is_there(aside)) continue;
    if (auto ok = rename_folder(folder, aside); !ok) return propagate(ok);
    (void)fsync_folder(folder.parent_path());
    return aside;
  }
  return fail(ErrorKind::permanent, "cannot find a free name to set it aside", folder.string());
}

void clean_up(const fs::path& root) {
  // One by one as they are found: there may be any number.
  (void)for_each_entry(root, [&](const fs::path& path, std::string_view name) {
    if (name.starts_with(name::temporary)) remove_leftover(path);
    if (name.starts_with(name::replaced)) finish_replacement(path, name);
  });
}

std::vector<fs::path> leftovers(const fs::path& root) {
  std::vector<fs::path> found;
  (void)for_each_entry(root, [&](const fs::path& path, std::string_view name) {
    if (!name.starts_with(name::temporary) && !name.starts_with(name::replaced)) return;
    auto folder = open_real_folder(path);
    if (folder && lock(*folder) == Lock::held) found.push_back(path);
  });
  return found;
}

Result<std::vector<fs::path>> step_folders(const fs::path& root) {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  auto listed = for_each_entry(root, [&](const fs::path& path, std::string_view name) {
    std::error_code error;
    const auto step = step_from_name(name);
    if (step && fs::symlink_status(path, error).type() == fs::file_type::directory) {
      found.emplace_back(*step, path);
    }
    if (found.size() < 2 * most_steps) return;
    std::sort(found.begin(), found.end(), std::greater<>());
    found.resize(most_steps);
  });
  if (!listed) return propagate(listed);
  std::sort(found.begin(), found.end(), std::greater<>());
  std::vector<fs::path> folders;
  folders.reserve(found.size());
  for (auto& [step, path] : found) folders.push_back(std::move(path));
  return folders;
}

}  // namespace trainward::checkpoint
