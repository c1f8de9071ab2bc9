#include "common/os/path_trust.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <deque>

#include "common/os/fd.hpp"
#include "common/os/user.hpp"

namespace trainward {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view no_modes =
    "on a file system without modes, mount it with the option umask=022";
constexpr int most_links = 40;  // as the kernel has it

std::deque<fs::path> parts_of(const fs::path& path) { return {path.begin(), path.end()}; }

bool is_sticky(const struct stat& info) {
  return S_ISDIR(info.st_mode) && (info.st_mode & S_ISVTX) != 0;
}

std::optional<WeakPlace> weakness_of(const struct stat& info, const fs::path& place) {
  // The mode of a link means nothing.
  const bool counts = !S_ISLNK(info.st_mode) && !is_sticky(info);
  WeakPlace weak{place, info.st_uid, counts && (info.st_mode & S_IWGRP) != 0 && info.st_gid != 0,
                 counts && (info.st_mode & S_IWOTH) != 0};
  if (info.st_uid == 0 && !weak.writable()) return std::nullopt;
  return weak;
}

Result<fs::path> target_of(int link, const fs::path& place) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlinkat(link, "", text.data(), text.size());
  if (size < 0) return fail_errno(errno, "read the link", place.string());
  return fs::path(std::string(text.data(), static_cast<std::size_t>(size)));
}

}  // namespace

Status check_known_writers(const fs::path& path) {
  std::error_code error;
  const auto real = fs::canonical(path, error);
  struct stat info {};
  if (error || ::stat(real.c_str(), &info) != 0) return {};
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return {};
  if ((info.st_mode & S_IWOTH) != 0) {
    return fail(ErrorKind::permanent,
                "may be written by every user of this machine, who could change what runs here",
                path.string(), fmt::format("`chmod o-w {}`; {}", real.string(), no_modes));
  }
  // In a folder with the sticky bit, such as /tmp, only the owner can take a file away.
  const auto folder = real.parent_path();
  if (::stat(folder.c_str(), &info) != 0 || (info.st_mode & S_IWOTH) == 0 ||
      (info.st_mode & S_ISVTX) != 0) {
    return {};
  }
  return fail(ErrorKind::permanent,
              fmt::format("lies in {}, where every user of this machine could put another in its "
                          "place",
                          folder.string()),
              path.string(),
              fmt::format("`chmod o-w {0}`, or `chmod +t {0}` where others must write; {1}",
                          folder.string(), no_modes));
}

Result<std::optional<WeakPlace>> weakest_place(const fs::path& path, Judged judged) {
  std::error_code error;
  std::deque<fs::path> left = parts_of(fs::absolute(path, error));
  if (error) return fail_errno(error.value(), "find the folder of", path.string());
  Fd at;
  fs::path place;
  int links = 0;
  bool in_sticky = false;
  while (!left.empty()) {
    const fs::path part = left.front();
    left.pop_front();
    if (part.empty() || part == ".") continue;
    Fd next(::openat(at ? at.get() : AT_FDCWD, part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    place = part == ".." ? place.parent_path() : place / part;
    struct stat info {};
    if (!next && (errno == ENOENT || errno == ENOTDIR)) return std::optional<WeakPlace>();
    if (!next || ::fstat(next.get(), &info) != 0) {
      return fail_errno(errno, "look at", place.string());
    }
    const bool is_end = left.empty() && !S_ISLNK(info.st_mode);
    if (!is_end || judged == Judged::way_and_end || in_sticky) {
      auto weak = weakness_of(info, place);
      // In a folder with the sticky bit only the owner of the end counts.
      const bool owner_alone = is_end && judged == Judged::way;
      if (weak && !(owner_alone && weak->owner == 0)) return weak;
    }
    if (!S_ISLNK(info.st_mode)) {
      in_sticky = is_sticky(info);
      at = std::move(next);
      continue;
    }
    if (++links > most_links) return fail_errno(ELOOP, "follow", path.string());
    auto target = target_of(next.get(), place);
    if (!target) return propagate(target);
    place = place.parent_path();
    if (target->is_absolute()) {
      at.reset();
      place.clear();
    }
    const auto more = parts_of(*target);
    left.insert(left.begin(), more.begin(), more.end());
  }
  return std::optional<WeakPlace>();
}

Result<std::optional<Credentials>> rights_in(const fs::path& folder) {
  if (::geteuid() != 0) return std::optional<Credentials>();
  auto weak = weakest_place(folder, Judged::way);
  if (!weak) return propagate(weak);
  if (!*weak) return std::optional<Credentials>();
  if ((*weak)->owner == 0 || (*weak)->by_everybody) {
    return fail(ErrorKind::permanent, "is not used by root: " + describe(**weak), folder.string(),
                fmt::format("`{}`", remedy(**weak)));
  }
  auto owner = credentials_of((*weak)->owner);
  if (!owner) return propagate(owner);
  return std::optional(std::move(*owner));
}

std::string describe(const WeakPlace& weak) {
  if (weak.writable()) {
    return fmt::format("others than root may write into '{}' and change what lies there",
                       weak.place.string());
  }
  return fmt::format("'{}' belongs to {}, who could put something else in its place",
                     weak.place.string(), name_of_user(weak.owner));
}

std::string remedy(const WeakPlace& weak) {
  return weak.writable() ? "chmod go-w " + weak.place.string() : "";
}

}  // namespace trainward
