#include "common/os/folder.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "common/os/file.hpp"
#include "common/os/listing.hpp"
#include "common/os/rename.hpp"

namespace trainward {
namespace {

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

bool is_part(std::string_view part) {
  return !part.empty() && part != "." && part != ".." && part.find('\0') == std::string_view::npos;
}

// Part by part, for kernels without openat2().
Fd open_parts(int folder, std::string_view name) {
  Fd at;
  for (;;) {
    const auto slash = name.find('/');
    const std::string part(name.substr(0, slash));
    Fd inner(::openat(at ? at.get() : folder, part.c_str(), folder_flags));
    if (!inner || slash == std::string_view::npos) return inner;
    at = std::move(inner);
    name.remove_prefix(slash + 1);
  }
}

Fd open_beneath(int folder, const std::string& name) {
  open_how how{};
  how.flags = folder_flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how);
  // EPERM: a filter that does not know the call. The kernel itself answers EACCES.
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return open_parts(folder, name);
  return Fd(static_cast<int>(fd));
}

}  // namespace

Result<Folder> Folder::open(const std::filesystem::path& path, Last last) {
  const int follow = last == Last::no_link ? O_NOFOLLOW : 0;
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow));
  if (!fd) return fail_errno(errno, "open the folder", path.string());
  return Folder(std::move(fd), path);
}

Status Folder::check(const std::string& name) const {
  for (std::size_t begin = 0; begin <= name.size();) {
    const auto end = std::min(name.find('/', begin), name.size());
    if (!is_part(std::string_view(name).substr(begin, end - begin))) {
      return fail(ErrorKind::usage, "is not a name below a folder", (path_ / name).string());
    }
    begin = end + 1;
  }
  return {};
}

Result<Folder> Folder::enter(const std::string& name) const {
  if (auto ok = check(name); !ok) return propagate(ok);
  Fd fd = open_beneath(fd_.get(), name);
  if (!fd) return cannot_enter(errno, name);
  return Folder(std::move(fd), path_ / name);
}

Result<std::optional<Folder>> Folder::find(const std::string& name) const {
  if (auto ok = check(name); !ok) return propagate(ok);
  Fd fd = open_beneath(fd_.get(), name);
  if (fd) return Folder(std::move(fd), path_ / name);
  if (errno == ENOENT) return std::optional<Folder>();
  return cannot_enter(errno, name);
}

tl::unexpected<Error> Folder::cannot_enter(int problem, const std::string& name) const {
  if (problem == ELOOP || problem == EXDEV || problem == ENOTDIR) {
    return fail(ErrorKind::permanent, "is not a folder, or lies behind a symbolic link",
                (path_ / name).string(), "links are never followed here: move it away");
  }
  return fail_errno(problem, "open the folder", (path_ / name).string());
}

Result<Folder> Folder::make(const std::string& name, unsigned mode) const {
  if (auto ok = check(name); !ok) return propagate(ok);
  if (auto there = enter(name)) return there;  // the usual case: one call
  auto at = again();
  for (std::size_t begin = 0; at && begin < name.size();) {
    const auto end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    begin = end + 1;
    if (::mkdirat(at->fd_.get(), part.c_str(), mode) == 0) {
      if (auto ok = at->sync(); !ok) return propagate(ok);
    } else if (errno != EEXIST) {
      return fail_errno(errno, "create the folder", (at->path_ / part).string());
    }
    at = at->enter(part);
  }
  return at;
}

Result<Folder> Folder::make_for(const std::string& file, unsigned mode) const {
  const auto slash = file.rfind('/');
  return slash == std::string::npos ? again() : make(file.substr(0, slash), mode);
}

Result<Folder> Folder::make_new(const std::string& name, unsigned mode) const {
  if (!is_part(name) || name.find('/') != std::string::npos) {
    return fail(ErrorKind::usage, "is not a name for a folder", (path_ / name).string());
  }
  if (::mkdirat(fd_.get(), name.c_str(), mode) != 0) {
    return fail_errno(errno, "create the folder", (path_ / name).string());
  }
  if (auto ok = sync(); !ok) return propagate(ok);
  return enter(name);
}

Result<Folder> Folder::again() const {
  Fd fd(::openat(fd_.get(), ".", folder_flags));
  if (!fd) return fail_errno(errno, "open the folder", path_.string());
  return Folder(std::move(fd), path_);
}

Result<std::optional<Folder::Place>> Folder::find_place(const std::string& name) const {
  if (auto ok = check(name); !ok) return propagate(ok);
  const auto slash = name.rfind('/');
  if (slash == std::string::npos) return Place{Fd(), fd_.get(), name};
  auto parent = find(name.substr(0, slash));
  if (!parent) return propagate(parent);
  if (!*parent) return std::optional<Place>();
  Place place{std::move((*parent)->fd_), -1, name.substr(slash + 1)};
  place.folder = place.inner.get();
  return place;
}

Result<Folder::Place> Folder::place(const std::string& name) const {
  auto found = find_place(name);
  if (!found) return propagate(found);
  if (!*found) return cannot_enter(ENOENT, name.substr(0, name.rfind('/')));
  return std::move(**found);
}

Result<Fd> Folder::open_file(const std::string& name, int flags, unsigned mode) const {
  auto at = place(name);
  if (!at) return propagate(at);
  return open_regular_at(at->folder, at->last, (path_ / name).parent_path(), flags | O_NOFOLLOW,
                         mode);
}

Result<std::string> Folder::read(const std::string& name, std::size_t max_bytes) const {
  auto file = open_file(name, O_RDONLY);
  if (!file) return propagate(file);
  return read_to_end(file->get(), path_ / name, max_bytes);
}

Status Folder::write_durably(const std::string& name, std::string_view bytes, unsigned mode,
                             const std::string& temporary) const {
  auto at = place(name);
  if (!at) return propagate(at);
  const std::string part =
      temporary.empty() ? fmt::format("{}.tmp{}", at->last, ::getpid()) : temporary;
  const Folder folder(at->inner ? std::move(at->inner) : Fd(::dup(fd_.get())),
                      (path_ / name).parent_path());
  const auto write = [&]() -> Status {
    if (auto ok = folder.remove_file(part); !ok) return ok;
    auto file = folder.open_file(part, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (!file) return propagate(file);
    if (auto ok = write_all(file->get(), bytes, folder.path_ / part); !ok) return ok;
    if (::fsync(file->get()) != 0) {
      return fail_errno(errno, "fsync the file", (folder.path_ / part).string());
    }
    return folder.rename(part, at->last);
  };
  if (auto written = write(); !written) {
    (void)folder.remove_file(part);
    return written;
  }
  return folder.sync();
}

Result<std::optional<struct stat>> Folder::look(const std::string& name) const {
  auto at = find_place(name);
  if (!at) return propagate(at);
  if (!*at) return std::optional<struct stat>();
  struct stat info {};
  if (::fstatat((*at)->folder, (*at)->last.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) return info;
  if (errno == ENOENT) return std::optional<struct stat>();
  return fail_errno(errno, "look at", (path_ / name).string());
}

Result<std::vector<std::string>> Folder::names(std::size_t most) const {
  Listing entries(fd_.get());
  if (!entries) return fail_errno(errno, "read the folder", path_.string());
  std::vector<std::string> found;
  while (const char* name = entries.next()) {
    if (found.size() == most) {
      return fail(ErrorKind::permanent, fmt::format("has more than {} entries", most),
                  path_.string());
    }
    found.emplace_back(name);
  }
  if (errno != 0) return fail_errno(errno, "read the folder", path_.string());
  return found;
}

Status Folder::rename(const std::string& from, const Folder& to, const std::string& name,
                      Existing existing) const {
  auto old = place(from);
  auto fresh = to.place(name);
  if (!old) return propagate(old);
  if (!fresh) return propagate(fresh);
  const char* const from_name = old->last.c_str();
  const char* const to_name = fresh->last.c_str();
  std::error_code error;
  if (existing == Existing::keep) {
    error = rename_if_free(old->folder, from_name, fresh->folder, to_name);
  } else if (::renameat(old->folder, from_name, fresh->folder, to_name) != 0) {
    error.assign(errno, std::generic_category());
  }
  if (!error) return {};
  return fail_errno(error.value(), fmt::format("rename to {}", name), (path_ / from).string());
}

Status Folder::remove_file(const std::string& name) const { return remove(name, 0); }

Status Folder::remove_folder(const std::string& name) const { return remove(name, AT_REMOVEDIR); }

Status Folder::remove(const std::string& name, int flags) const {
  auto at = find_place(name);
  if (!at) return propagate(at);
  if (!*at) return {};
  if (::unlinkat((*at)->folder, (*at)->last.c_str(), flags) == 0 || errno == ENOENT) return {};
  return fail_errno(errno, "remove", (path_ / name).string());
}

Status Folder::sync() const {
  if (::fsync(fd_.get()) == 0) return {};
  return fail_errno(errno, "fsync the folder", path_.string());
}

}  // namespace trainward
