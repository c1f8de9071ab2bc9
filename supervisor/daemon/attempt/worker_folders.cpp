#include "supervisor/daemon/attempt/worker_folders.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "common/os/file.hpp"
#include "supervisor/config/launch_environment.hpp"

namespace trainward::daemon {
namespace {

constexpr int deepest = 16;  // folders in one another; checkpoints have two or three
constexpr uid_t same_user = static_cast<uid_t>(-1);
constexpr gid_t same_group = static_cast<gid_t>(-1);

struct DirCloser {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Others may enter it, when they know the names in it.
Status let_pass(const std::filesystem::path& folder) {
  auto fd = open_file(folder, O_RDONLY | O_DIRECTORY);
  if (!fd) return propagate(fd);
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return fail_errno(errno, "look at", folder.string());
  if ((info.st_mode & S_IXOTH) != 0) return {};
  if (::fchmod(fd->get(), (info.st_mode & 07777U) | S_IXOTH) == 0) return {};
  return fail_errno(errno, "let the worker's user pass through", folder.string());
}

// What of `from` lies in the open folder, and then the folder itself, so that one that was left
// half done is known by its owner.
Status give(int folder_fd, const std::filesystem::path& folder, uid_t from, uid_t to, int depth) {
  Fd copy(::openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!copy) return fail_errno(errno, "open the folder", folder.string());
  const std::unique_ptr<DIR, DirCloser> entries(::fdopendir(copy.get()));
  if (!entries) return fail_errno(errno, "read the folder", folder.string());
  copy.release();
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const Fd at(::openat(folder_fd, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!at || ::fstat(at.get(), &info) != 0 || info.st_uid != from) continue;
    if (S_ISDIR(info.st_mode) && depth < deepest) {
      if (auto ok = give(at.get(), folder / name, from, to, depth + 1); !ok) return ok;
    } else if (S_ISREG(info.st_mode) && info.st_nlink == 1) {
      (void)!::fchownat(at.get(), "", to, same_group, AT_EMPTY_PATH);
    }
  }
  if (::fchownat(folder_fd, "", to, same_group, AT_EMPTY_PATH) == 0) return {};
  return fail_errno(errno, "give the folder to the worker's user", folder.string());
}

Status give_folder(const std::filesystem::path& folder, uid_t to) {
  if (auto ok = make_folders(folder); !ok) return ok;
  auto fd = open_file(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!fd) return propagate(fd);
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return fail_errno(errno, "look at", folder.string());
  if (info.st_uid == to) return {};
  return give(fd->get(), folder, info.st_uid, to, 0);
}

}  // namespace

Status hand_over_folders(const config::Program& program, const Paths& paths) {
  if (!program.user || ::geteuid() != 0) return {};
  const auto attempts = paths.attempts(program.name);
  if (auto ok = make_folders(attempts); !ok) return ok;
  const auto own = attempts.parent_path();
  for (const auto& folder : {paths.state, own.parent_path(), own, attempts}) {
    if (auto ok = let_pass(folder); !ok) return ok;
  }
  const uid_t user = program.user->credentials.user;
  for (const auto& folder :
       {paths.checkpoints(program.name), paths.cache(config::own_cache(program))}) {
    if (auto ok = give_folder(folder, user); !ok) return ok;
  }
  return {};
}

Status hand_over_attempt(const config::Program& program, const std::filesystem::path& folder) {
  if (!program.user || ::geteuid() != 0) return {};
  const Credentials& user = program.user->credentials;
  if (auto ok = let_pass(folder); !ok) return ok;
  // It reads its configuration and may not change it.
  const auto config = folder / "worker.json";
  if (::lchown(config.c_str(), same_user, user.group) != 0) {
    return fail_errno(errno, "let the worker's user read", config.string());
  }
  return give_folder(folder / "tmp", user.user);
}

InItsFolders::InItsFolders(const config::Program& program, const Paths& paths)
    : ready_(hand_over_folders(program, paths)), acting_(config::user_of(program)) {
  if (!ready_ || !program.user) return;
  if (!acting_) {
    // Seen to when the configuration was read (config::check_run_as()), and taken away since.
    ready_ = fail(ErrorKind::transient, "the daemon may no longer act as the program's user");
    return;
  }
  const auto folder = paths.checkpoints(program.name);
  if (auto fd = open_file(folder, O_PATH | O_DIRECTORY); !fd) {
    ready_ = fail(ErrorKind::transient,
                  fmt::format("user '{}' cannot enter it: {}", program.user->name, fd.error().what),
                  folder.string(),
                  "move 'state_dir' to where others may pass, or `chmod o+x` the folders above it");
  }
}

}  // namespace trainward::daemon
