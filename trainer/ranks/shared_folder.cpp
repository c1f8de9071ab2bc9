#include "trainer/ranks/shared_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace trainward::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "trainward-ranks-";

fs::path parent() {
  std::error_code none;
  if (::access("/dev/shm", W_OK | X_OK) == 0) return "/dev/shm";
  return fs::temp_directory_path(none);
}

Fd open_locked(const fs::path& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

bool is_ours(const Fd& folder) {
  struct stat status {};
  return ::fstat(folder.get(), &status) == 0 && status.st_uid == ::geteuid();
}

void remove_leftovers(const fs::path& where) {
  std::error_code error;
  for (fs::directory_iterator it(where, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(prefix)) continue;
    const Fd lock = open_locked(it->path());
    std::error_code ignored;
    if (lock && is_ours(lock)) fs::remove_all(it->path(), ignored);
  }
}

}  // namespace

Result<SharedFolder> SharedFolder::make() {
  const fs::path where = parent();
  remove_leftovers(where);
  // Another may take a folder for a leftover before it is locked; then this is no longer it.
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = (where / (std::string(prefix) + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) return fail_errno(errno, "make a folder", name);
    Fd lock = open_locked(name);
    std::error_code error;
    if (lock && fs::is_directory(name, error)) return SharedFolder(name, std::move(lock));
  }
  return fail(ErrorKind::transient, "every folder was taken away while it was made",
              where.string());
}

SharedFolder::SharedFolder(SharedFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

SharedFolder::~SharedFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace trainward::trainer
