#include "supervisor/daemon/attempt/worker_folders.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "common/os/file.hpp"
#include "supervisor/config/launch_environment.hpp"

namespace trainward::daemon {
namespace {

constexpr int deepest = 16;  // folders in one another; checkpoints have two or three
constexpr uid_t same_user = static_cast<uid_t>(-1);
constexpr gid_t same_group = static_cast<gid_t>(-1);

Result<struct stat> look_at(const Folder& folder) {
  struct stat info {};
  if (::fstat(folder.fd(), &info) == 0) return info;
  return fail_errno(errno, "look at", folder.path().string());
}

// Others may enter it, when they know the names in it.
Status let_pass(const Folder& folder) {
  const auto info = look_at(folder);
  if (!info) return tl::unexpected<Error>(info.error());
  if ((info->st_mode & S_IXOTH) != 0) return {};
  if (::fchmod(folder.fd(), (info->st_mode & 07777U) | S_IXOTH) == 0) return {};
  return fail_errno(errno, "let the worker's user pass through", folder.path().string());
}

// What of `from` lies in the folder, and then the folder itself, so that one that was left half
// done is known by its owner.
Status give(const Folder& folder, uid_t from, uid_t to, int depth) {
  auto names = folder.names();
  if (!names) return propagate(names);
  for (const std::string& name : *names) {
    const Fd at(::openat(folder.fd(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!at || ::fstat(at.get(), &info) != 0 || info.st_uid != from) continue;
    if (S_ISDIR(info.st_mode) && depth < deepest) {
      auto inner = folder.enter(name);
      if (!inner) return propagate(inner);
      if (auto ok = give(*inner, from, to, depth + 1); !ok) return ok;
    } else if (S_ISREG(info.st_mode) && info.st_nlink == 1) {
      (void)!::fchownat(at.get(), "", to, same_group, AT_EMPTY_PATH);
    }
  }
  if (::fchown(folder.fd(), to, same_group) == 0) return {};
  return fail_errno(errno, "give the folder to the worker's user", folder.path().string());
}

Status give_folder(const Folder& folder, uid_t to) {
  const auto info = look_at(folder);
  if (!info) return tl::unexpected<Error>(info.error());
  if (info->st_uid == to) return {};
  return give(folder, info->st_uid, to, 0);
}

}  // namespace

Status hand_over_folders(const config::Program& program, const Paths& paths) {
  if (!program.user || ::geteuid() != 0) return {};
  const auto attempts = paths.attempts(program.name);
  if (auto ok = make_folders(attempts); !ok) return ok;
  const auto own = attempts.parent_path();
  std::vector<std::filesystem::path> passed{paths.state, own.parent_path(), own, attempts};
  if (program.standby) {
    passed.push_back(paths.standbys(program.name));
    if (auto ok = make_folders(passed.back()); !ok) return ok;
  }
  for (const auto& path : passed) {
    auto folder = Folder::open(path);
    if (!folder) return propagate(folder);
    if (auto ok = let_pass(*folder); !ok) return ok;
  }
  for (const auto& path :
       {paths.checkpoints(program.name), paths.cache(config::own_cache(program))}) {
    auto above = Folder::open(path.parent_path());
    if (!above) return propagate(above);
    auto folder = above->make(path.filename().string());
    if (!folder) return propagate(folder);
    if (auto ok = give_folder(*folder, program.user->credentials.user); !ok) return ok;
  }
  return {};
}

Status hand_over_attempt(const config::Program& program, const Folder& folder) {
  if (!program.user || ::geteuid() != 0) return {};
  const Credentials& user = program.user->credentials;
  if (auto ok = let_pass(folder); !ok) return ok;
  // It reads its configuration and may not change it.
  if (::fchownat(folder.fd(), worker_config, same_user, user.group, AT_SYMLINK_NOFOLLOW) != 0) {
    return fail_errno(errno, "let the worker's user read",
                      (folder.path() / worker_config).string());
  }
  auto temporary = folder.enter("tmp");
  if (!temporary) return propagate(temporary);
  return give_folder(*temporary, user.user);
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
