#include "supervisor/upload/folder/folder_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "common/os/fault_point.hpp"
#include "common/os/file.hpp"
#include "supervisor/upload/file_digest.hpp"
#include "supervisor/upload/folder/copy_bytes.hpp"
#include "supervisor/upload/publication.hpp"

namespace trainward::upload {
namespace {

namespace fs = std::filesystem;

constexpr const char* mounted_key = "folder/mounted";  // once it has been seen so
constexpr std::string_view unfinished = ".trainward-part-";
constexpr std::size_t most_entries = 100'000;

fs::path part_of(const fs::path& path) {
  return path.parent_path() / (std::string(unfinished) + path.filename().string());
}

bool is_missing(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

tl::unexpected<Error> cannot(const std::error_code& error, std::string_view action,
                             const fs::path& where) {
  return fail_errno(error.value(), action, where.string());
}

}  // namespace

Status FolderStore::check() {
  struct stat info {};
  if (::stat(root_.c_str(), &info) != 0) {
    const int error = errno;
    if (error != ENOENT && error != ENOTDIR) return fail_io(error, "look at", root_);
    return fail(ErrorKind::permanent, "is not there", root_.string(),
                "mount the disk it belongs to; on a new disk make it once with `mkdir`");
  }
  if (!S_ISDIR(info.st_mode)) return fail(ErrorKind::permanent, "is no folder", root_.string());
  if (::faccessat(AT_FDCWD, root_.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return fail_errno(errno, "write into", root_.string());
  }
  return still_mounted(info);
}

// A folder that a disk is mounted on is there without it, too, and takes the disk's place on
// another one.
Status FolderStore::still_mounted(const struct stat& root) {
  struct stat above {};
  if (::stat((root_ / "..").c_str(), &above) != 0) return fail_io(errno, "look above", root_);
  const bool mounted = above.st_dev != root.st_dev;
  auto before = memory_.get(mounted_key);
  if (!before) return propagate(before);
  if (*before && !mounted) {
    return fail(ErrorKind::transient, "is not mounted now, as it was before", root_.string(),
                "mount it; if it is to be a plain folder from now on, name a folder in it");
  }
  return mounted && !*before ? memory_.put(mounted_key, "yes") : Status();
}

// Nothing is written through a link below the root: whoever else may write there could lead it
// anywhere.
Result<fs::path> FolderStore::place(const std::string& key, bool make_its_folder) {
  if (!is_safe_name(key.ends_with('/') ? key.substr(0, key.size() - 1) : key)) {
    return fail(ErrorKind::usage, "is no name for a file", key);
  }
  fs::path at = root_;
  const fs::path relative = fs::path(key).parent_path();
  for (const fs::path& part : relative) {
    at /= part;
    struct stat info {};
    if (::lstat(at.c_str(), &info) == 0) {
      if (S_ISDIR(info.st_mode)) continue;
      return fail(ErrorKind::permanent, "is not a folder of this upload", at.string(),
                  "a file or a link lies where checkpoints belong: move it away");
    }
    if (errno != ENOENT) return fail_errno(errno, "look at", at.string());
    if (!make_its_folder) break;
    if (::mkdir(at.c_str(), 0750) != 0 && errno != EEXIST) {
      return fail_errno(errno, "make the folder", at.string());
    }
    if (auto ok = fsync_folder(at.parent_path()); !ok) return propagate(ok);
  }
  return root_ / key;
}

Status FolderStore::put_file(const std::string& key, const File& file, const Progress& progress) {
  if (auto ok = check(); !ok) return ok;
  auto path = place(key, true);
  if (!path) return propagate(path);
  const fs::path part = part_of(*path);
  auto copy = open_regular(part, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640);
  if (!copy) return propagate(copy);
  struct stat info {};
  if (::fstat(copy->get(), &info) != 0) return fail_errno(errno, "look at", part.string());
  // Of an interrupted copy the beginning is there; whether it is right shows at the end.
  std::int64_t from = std::min<std::int64_t>(info.st_size, file.size);
  if (info.st_size > file.size && ::ftruncate(copy->get(), 0) == 0) from = 0;
  if (auto ok = copy_bytes(file.descriptor.get(), copy->get(), from, file.size - from, options_,
                           part, progress);
      !ok) {
    return ok;
  }
  if (::ftruncate(copy->get(), file.size) != 0 || ::fsync(copy->get()) != 0) {
    return fail_io(errno, "sync", part);
  }
  fault_point("upload.folder_synced");
  auto digest = file_digest(copy->get(), file.size, part, 0, options_.stop);
  if (!digest) return propagate(digest);
  if (*digest != file.sha256) {
    (void)::unlink(part.c_str());
    // The next try copies all of it: only if the source itself has changed it fails again.
    auto source = file_digest(file.descriptor.get(), file.size, file.name, 0, options_.stop);
    if (!source) return propagate(source);
    if (*source != file.sha256) {
      return fail(ErrorKind::corrupt, "was changed while it was copied", file.name);
    }
    return fail(ErrorKind::transient, "did not hold the bytes that were copied", part.string());
  }
  if (::rename(part.c_str(), path->c_str()) != 0) {
    return fail_io(errno, "rename to", *path);
  }
  return fsync_folder(path->parent_path());
}

Status FolderStore::abandon(const std::string& prefix) {
  auto folder = place(prefix, false);
  if (!folder) return propagate(folder);
  std::error_code error;
  std::vector<fs::path> parts;
  for (fs::recursive_directory_iterator at(*folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().string().starts_with(unfinished)) parts.push_back(at->path());
  }
  for (const fs::path& part : parts) (void)::unlink(part.c_str());
  if (error && !is_missing(error)) return cannot(error, "read the folder", *folder);
  return {};
}

Result<std::optional<ObjectStore::Text>> FolderStore::get_text(const std::string& key,
                                                               std::size_t most_bytes) {
  if (auto ok = check(); !ok) return propagate(ok);
  auto path = place(key, false);
  if (!path) return propagate(path);
  struct stat info {};
  if (::lstat(path->c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return std::optional<Text>();
  }
  auto text = read_file(*path, most_bytes);
  if (!text) return propagate(text);
  return std::optional(Text{std::move(*text), ""});
}

Result<bool> FolderStore::put_text(const std::string& key, const std::string& text,
                                   const std::optional<Text>& replaces) {
  (void)replaces;  // the daemon's lock on its state folder lets one courier write
  auto path = place(key, true);
  if (!path) return propagate(path);
  // Under a name that whoever goes on after a crash uses again.
  if (auto ok = write_file_durably(*path, part_of(*path), text, 0640); !ok) return propagate(ok);
  return true;
}

Result<std::vector<std::string>> FolderStore::list(const std::string& prefix) {
  if (auto ok = check(); !ok) return propagate(ok);
  auto folder = place(prefix + "x", false);
  if (!folder) return propagate(folder);
  std::vector<std::string> out;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder->parent_path(), error), end;
       !error && at != end && out.size() < most_entries; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code unknown;
    if (name.starts_with(unfinished) || !fs::is_regular_file(at->symlink_status(unknown))) continue;
    out.push_back(at->path().lexically_relative(root_).string());
  }
  if (error && !is_missing(error)) return cannot(error, "read the folder", folder->parent_path());
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::optional<std::int64_t>> FolderStore::size(const std::string& key) {
  auto path = place(key, false);
  if (!path) return propagate(path);
  struct stat info {};
  if (::lstat(path->c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode)) return std::optional<std::int64_t>();
    return std::optional<std::int64_t>(info.st_size);
  }
  if (errno == ENOENT || errno == ENOTDIR) return std::optional<std::int64_t>();
  return fail_errno(errno, "look at", path->string());
}

Result<std::optional<std::string>> FolderStore::digest(const std::string& key) {
  auto path = place(key, false);
  if (!path) return propagate(path);
  auto file = open_regular(*path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (!file) return propagate(file);
  struct stat info {};
  if (::fstat(file->get(), &info) != 0) return fail_errno(errno, "look at", path->string());
  auto digest = file_digest(file->get(), info.st_size, *path, 0, options_.stop);
  if (!digest) return propagate(digest);
  return std::optional(std::move(*digest));
}

Status FolderStore::remove(const std::string& key) {
  auto path = place(key, false);
  if (!path) return propagate(path);
  if (::unlink(path->c_str()) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return fail_errno(errno, "remove", path->string());
  }
  // A folder that is empty now goes with it.
  (void)::rmdir(path->parent_path().c_str());
  return fsync_folder(path->parent_path().parent_path());
}

Status FolderStore::fetch(const std::string& key, std::int64_t size, int descriptor,
                          const Progress& progress) {
  auto path = place(key, false);
  if (!path) return propagate(path);
  auto file = open_regular(*path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (!file) return propagate(file);
  return copy_bytes(file->get(), descriptor, 0, size, options_, *path, progress);
}

}  // namespace trainward::upload
