#include "supervisor/courier/upload/folder/folder_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "common/os/credentials.hpp"
#include "common/os/fault_point.hpp"
#include "common/os/path_trust.hpp"
#include "supervisor/courier/upload/folder/copy_bytes.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"
#include "supervisor/courier/upload/target/publication.hpp"

namespace trainward::upload {
namespace {

namespace fs = std::filesystem;

constexpr const char* mounted_key = "folder/mounted";  // once it has been seen so
constexpr std::string_view unfinished = ".trainward-part-";
constexpr std::size_t most_entries = 100'000;
constexpr int deepest = 16;  // of the folders in a checkpoint's; more are not of an upload

std::string without_slash(const std::string& prefix) {
  return prefix.substr(0, prefix.find_last_not_of('/') + 1);
}

// "p/step-1/model.bin": the folder "p/step-1", and in it "model.bin".
struct Place {
  std::string folder;
  std::string name;
  [[nodiscard]] std::string part() const { return std::string(unfinished) + name; }
};

Result<Place> place_of(const std::string& key) {
  const auto slash = key.rfind('/');
  if (is_safe_name(key) && slash != std::string::npos) {
    return Place{key.substr(0, slash), key.substr(slash + 1)};
  }
  return fail(ErrorKind::usage, "is no name for a file", key);
}

// A network file system may have what root writes as nobody's.
bool is_ours(const struct stat& info) {
  constexpr uid_t nobody = 65'534;
  const auto self = static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1)));  // asks only
  return info.st_nlink == 1 && (info.st_uid == self || info.st_uid == nobody);
}

// The beginning of an interrupted copy, or an empty file. One that others have a name for, or have
// put there, is removed.
Result<Fd> open_part(const Folder& folder, const std::string& part) {
  auto there = folder.look(part);
  if (!there) return propagate(there);
  if (*there) {
    auto begun = folder.open_file(part, O_RDWR);
    struct stat info {};
    if (begun && ::fstat(begun->get(), &info) == 0 && is_ours(info)) return begun;
    if (auto ok = folder.remove_file(part); !ok) return propagate(ok);
  }
  return folder.open_file(part, O_RDWR | O_CREAT | O_EXCL);
}

// Regular files below `folder`, by their names from `prefix` on; links and pipes are left out.
Status collect(const Folder& folder, const std::string& prefix, std::vector<std::string>& found,
               bool finished, int depth = 0) {
  auto names = folder.names(most_entries);
  if (!names) return propagate(names);
  for (const std::string& name : *names) {
    auto info = folder.look(name);
    if (!info) return propagate(info);
    if (found.size() == most_entries) return {};
    if (*info && S_ISREG((*info)->st_mode) && name.starts_with(unfinished) != finished) {
      found.push_back(prefix + name);
    } else if (*info && S_ISDIR((*info)->st_mode) && depth < deepest) {
      auto inner = folder.find(name);
      if (!inner) return propagate(inner);
      if (!*inner) continue;
      if (auto ok = collect(**inner, prefix + name + "/", found, finished, depth + 1); !ok) {
        return ok;
      }
    }
  }
  return {};
}

// That the name still stands for the file that was written and compared.
Status is_still(const Folder& folder, const std::string& name, const Fd& file) {
  struct stat written {};
  auto there = folder.look(name);
  if (!there) return propagate(there);
  if (*there && ::fstat(file.get(), &written) == 0 && (*there)->st_ino == written.st_ino &&
      (*there)->st_dev == written.st_dev) {
    return {};
  }
  return fail(ErrorKind::transient, "was replaced by somebody while it was written",
              (folder.path() / name).string());
}

}  // namespace

Result<Folder> FolderStore::open_root() const {
  Fd fd(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) return Folder(std::move(fd), root_);
  const int error = errno;
  struct stat info {};
  if (error == ENOTDIR && ::stat(root_.c_str(), &info) == 0) {
    return fail(ErrorKind::permanent, "is no folder", root_.string());
  }
  if (error != ENOENT && error != ENOTDIR) return fail_io(error, "open the folder", root_);
  return fail(ErrorKind::permanent, "is not there", root_.string(),
              "mount the disk it belongs to; on a new disk make it once with `mkdir`");
}

template <typename Work>
auto FolderStore::in_root(const Work& work) -> std::invoke_result_t<Work, const Folder&> {
  auto rights = rights_in(root_);
  if (!rights) return propagate(rights);
  return acting_as(*rights, [&]() -> std::invoke_result_t<Work, const Folder&> {
    auto root = open_root();
    if (!root) return propagate(root);
    return work(*root);
  });
}

Status FolderStore::check() {
  auto mounted = in_root([&](const Folder& root) -> Result<bool> {
    if (::faccessat(root.fd(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
      return fail_errno(errno, "write into", root_.string());
    }
    struct stat info {};
    struct stat above {};
    if (::fstat(root.fd(), &info) != 0 || ::fstatat(root.fd(), "..", &above, 0) != 0) {
      return fail_io(errno, "look above", root_);
    }
    return above.st_dev != info.st_dev;
  });
  if (!mounted) return propagate(mounted);
  // A folder that a disk is mounted on is there without it, too, and takes the disk's place on
  // another one.
  auto before = memory_.get(mounted_key);
  if (!before) return propagate(before);
  if (*before && !*mounted) {
    return fail(ErrorKind::transient, "is not mounted now, as it was before", root_.string(),
                "mount it; if it is to be a plain folder from now on, name a folder in it");
  }
  return *mounted && !*before ? memory_.put(mounted_key, "yes") : Status();
}

Status FolderStore::put_file(const std::string& key, const File& file, const Progress& progress) {
  if (auto ok = check(); !ok) return ok;
  auto place = place_of(key);
  if (!place) return propagate(place);
  const fs::path part = root_ / place->folder / place->part();
  auto copy = in_root([&](const Folder& root) -> Result<Fd> {
    auto folder = root.make(place->folder);
    if (!folder) return propagate(folder);
    return open_part(*folder, place->part());
  });
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
    (void)in_root(
        [&](const Folder& root) { return root.remove_file(place->folder + "/" + place->part()); });
    // The next try copies all of it: only if the source itself has changed it fails again.
    auto source = file_digest(file.descriptor.get(), file.size, file.name, 0, options_.stop);
    if (!source) return propagate(source);
    if (*source != file.sha256) {
      return fail(ErrorKind::corrupt, "was changed while it was copied", file.name);
    }
    return fail(ErrorKind::transient, "did not hold the bytes that were copied", part.string());
  }
  return in_root([&](const Folder& root) -> Status {
    auto folder = root.enter(place->folder);
    if (!folder) return propagate(folder);
    if (auto ok = is_still(*folder, place->part(), *copy); !ok) return ok;
    // With its errno: a share that went away just now comes back.
    if (::renameat(folder->fd(), place->part().c_str(), folder->fd(), place->name.c_str()) != 0) {
      return fail_io(errno, "rename to", root_ / key);
    }
    return folder->sync();
  });
}

Status FolderStore::abandon(const std::string& prefix) {
  return in_root([&](const Folder& root) -> Status {
    auto folder = root.find(without_slash(prefix));
    if (!folder) return propagate(folder);
    std::vector<std::string> parts;
    if (!*folder) return {};
    if (auto ok = collect(**folder, "", parts, false); !ok) return ok;
    for (const std::string& part : parts) (void)(*folder)->remove_file(part);
    return {};
  });
}

Result<std::optional<ObjectStore::Text>> FolderStore::get_text(const std::string& key,
                                                               std::size_t most_bytes) {
  if (auto ok = check(); !ok) return propagate(ok);
  return in_root([&](const Folder& root) -> Result<std::optional<Text>> {
    auto there = root.look(key);
    if (!there) return propagate(there);
    if (!*there) return std::optional<Text>();
    auto text = root.read(key, most_bytes);
    if (!text) return propagate(text);
    return std::optional(Text{std::move(*text), ""});
  });
}

Result<bool> FolderStore::put_text(const std::string& key, const std::string& text,
                                   const std::optional<Text>& replaces) {
  (void)replaces;  // the daemon's lock on its state folder lets one courier write
  auto place = place_of(key);
  if (!place) return propagate(place);
  return in_root([&](const Folder& root) -> Result<bool> {
    auto folder = root.make(place->folder);
    if (!folder) return propagate(folder);
    // Under a temporary name that the next process uses again after a crash.
    if (auto ok = folder->write_durably(place->name, text, 0640, place->part()); !ok) {
      return propagate(ok);
    }
    return true;
  });
}

Result<std::vector<std::string>> FolderStore::list(const std::string& prefix) {
  if (auto ok = check(); !ok) return propagate(ok);
  std::vector<std::string> out;
  auto read = in_root([&](const Folder& root) -> Status {
    auto folder = root.find(without_slash(prefix));
    if (!folder) return propagate(folder);
    return *folder ? collect(**folder, prefix, out, true) : Status();
  });
  if (!read) return propagate(read);
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::optional<std::int64_t>> FolderStore::size(const std::string& key) {
  return in_root([&](const Folder& root) -> Result<std::optional<std::int64_t>> {
    auto info = root.look(key);
    if (!info) return propagate(info);
    if (!*info || !S_ISREG((*info)->st_mode)) return std::optional<std::int64_t>();
    return std::optional<std::int64_t>((*info)->st_size);
  });
}

Result<Fd> FolderStore::open(const std::string& key) {
  return in_root([&](const Folder& root) { return root.open_file(key, O_RDONLY); });
}

Result<std::optional<std::string>> FolderStore::digest(const std::string& key) {
  auto file = open(key);
  if (!file) return propagate(file);
  struct stat info {};
  if (::fstat(file->get(), &info) != 0) return fail_errno(errno, "look at", shown(key));
  auto digest = file_digest(file->get(), info.st_size, shown(key), 0, options_.stop);
  if (!digest) return propagate(digest);
  return std::optional(std::move(*digest));
}

Status FolderStore::remove(const std::string& key) {
  auto place = place_of(key);
  if (!place) return propagate(place);
  return in_root([&](const Folder& root) -> Status {
    auto folder = root.find(place->folder);
    if (!folder) return propagate(folder);
    if (!*folder) return {};
    if (auto ok = (*folder)->remove_file(place->name); !ok) return ok;
    if (auto ok = (*folder)->sync(); !ok) return ok;
    (void)root.remove_folder(place->folder);  // one that is empty now goes with it
    return {};
  });
}

Status FolderStore::fetch(const std::string& key, std::int64_t size, int descriptor,
                          const Progress& progress) {
  auto file = open(key);
  if (!file) return propagate(file);
  return copy_bytes(file->get(), descriptor, 0, size, options_, shown(key), progress);
}

}  // namespace trainward::upload
