#include "supervisor/process/shim/attempt_place.hpp"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace trainward::shim {
namespace {

constexpr const char* temporary = "tmp";
constexpr unsigned mode_bits = 07777;

// Whatever the umask is.
Status be_as(const Folder& folder, const struct stat& was) {
  struct stat is {};
  if (::fstat(folder.fd(), &is) != 0) {
    return fail_errno(errno, "look at the folder", folder.path().string());
  }
  const bool owned = is.st_uid == was.st_uid && is.st_gid == was.st_gid;
  if (!owned && ::fchown(folder.fd(), was.st_uid, was.st_gid) != 0) {
    return fail_errno(errno, "give the folder to whom it belonged", folder.path().string());
  }
  if (::fchmod(folder.fd(), was.st_mode & mode_bits) != 0) {
    return fail_errno(errno, "set the rights of the folder", folder.path().string());
  }
  return {};
}

}  // namespace

Result<AttemptPlace> AttemptPlace::open(const std::filesystem::path& path) {
  auto folder = Folder::open(path, Folder::Last::no_link);
  if (!folder) return propagate(folder);
  auto parent = Folder::open(path.parent_path());
  if (!parent) return propagate(parent);
  AttemptPlace place(std::make_shared<const Folder>(std::move(*folder)), std::move(*parent),
                     path.filename().string());
  if (::fstat(place.folder_->fd(), &place.was_) != 0) {
    return fail_errno(errno, "look at the folder", path.string());
  }
  if (auto made = place.folder_->look(temporary); made && *made) place.temporary_was_ = **made;
  place.watch_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  // By the folder that is held, whatever its path leads to by now.
  const std::string held = fmt::format("/proc/self/fd/{}", place.parent_.fd());
  if (place.watch_ && ::inotify_add_watch(place.watch_.get(), held.c_str(),
                                          IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR) < 0) {
    place.watch_.reset();
  }
  return place;
}

Result<std::shared_ptr<const Folder>> AttemptPlace::look() {
  alignas(inotify_event) std::array<char, 4096> events{};
  while (::read(watch_.get(), events.data(), events.size()) > 0) {
  }
  auto there = parent_.look(name_);
  if (!there) return propagate(there);
  if (*there && (*there)->st_ino == was_.st_ino && (*there)->st_dev == was_.st_dev) return nullptr;
  auto made = make_anew();
  if (!made) return propagate(made);
  folder_ = std::make_shared<const Folder>(std::move(*made));
  if (::fstat(folder_->fd(), &was_) != 0) {
    return fail_errno(errno, "look at the folder", folder_->path().string());
  }
  return folder_;
}

Result<Folder> AttemptPlace::make_anew() const {
  auto folder = parent_.make_new(name_, was_.st_mode & mode_bits);
  if (!folder) return folder;
  if (temporary_was_) {
    auto inner = folder->make_new(temporary, temporary_was_->st_mode & mode_bits);
    if (!inner) return inner;
    if (auto ok = be_as(*inner, *temporary_was_); !ok) return propagate(ok);
  }
  if (auto ok = be_as(*folder, was_); !ok) return propagate(ok);
  return folder;
}

}  // namespace trainward::shim
