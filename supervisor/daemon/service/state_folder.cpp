#include "supervisor/daemon/service/state_folder.hpp"

#include <sys/stat.h>

#include <cerrno>

namespace trainward::daemon {
namespace {

constexpr std::int64_t every_ms = 1'000;

}  // namespace

Status check_lock_lies_at(int lock, const std::filesystem::path& file) {
  struct stat mine {};
  struct stat there {};
  if (::fstat(lock, &mine) != 0) return {};
  const auto lost = [&](const char* what) -> Status {
    return fail(ErrorKind::permanent, what, file.parent_path().string(),
                "nothing can be recorded; start trainwardd again, with the folder where "
                "it was if it was moved");
  };
  if (::stat(file.c_str(), &there) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return {};
    return lost("the state folder was deleted or moved while trainwardd works in it");
  }
  if (there.st_dev == mine.st_dev && there.st_ino == mine.st_ino) return {};
  return lost("another folder lies where the state folder was");
}

StateFolder::StateFolder(Loop& loop, int lock, std::filesystem::path file,
                         std::function<void(const Error&)> lost)
    : lock_(lock), file_(std::move(file)), lost_(std::move(lost)), timer_(loop) {
  timer_.after(every_ms, [this] { look(); });
}

void StateFolder::look() {
  if (auto there = check_lock_lies_at(lock_, file_); !there) return lost_(there.error());
  timer_.after(every_ms, [this] { look(); });
}

}  // namespace trainward::daemon
