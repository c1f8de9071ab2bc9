#include "supervisor/tracking/run_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/digest.hpp"
#include "common/base/json.hpp"
#include "common/os/file.hpp"

namespace trainward::tracking {
namespace {

constexpr const char* mark_name = ".trainward-run.json";
constexpr std::string_view part_prefix = "part-";
constexpr std::string_view event_prefix = "events.out.tfevents.";
constexpr std::size_t longest_mark = 4096;
constexpr int most_names = 100;

// Daemons of several machines may share the folder, each with a program of this name.
std::string hidden_name(const RunMark& mark, std::string_view ending) {
  constexpr std::size_t digits = 12;
  const std::string whose = sha256_hex(mark.run + " " + mark.kept_by).substr(0, digits);
  return fmt::format(".{}.{}.trainward-{}", mark.program, whose, ending);
}
std::string building_name(const RunMark& mark) { return hidden_name(mark, "new"); }
std::string replaced_name(const RunMark& mark) { return hidden_name(mark, "old"); }

// "a", "a-2", "a-3", …
std::string numbered(const std::string& program, int number) {
  return number == 1 ? program : fmt::format("{}-{}", program, number);
}

bool is_ours(std::string_view name) {
  return name == mark_name || name.starts_with(part_prefix) || name.starts_with(event_prefix);
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

Result<std::vector<std::string>> entries(int folder, const std::filesystem::path& path) {
  Fd again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return fail_errno(errno, "list it", path.string());
  const std::unique_ptr<DIR, CloseFolder> list(::fdopendir(again.get()));
  if (!list) return fail_errno(errno, "list it", path.string());
  (void)again.release();
  std::vector<std::string> names;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a list of its own
  while (const dirent* entry = ::readdir(list.get())) {
    const std::string name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

std::optional<RunMark> read_mark(int folder, const std::filesystem::path& path) {
  auto file = open_regular_at(folder, mark_name, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (!file) return std::nullopt;
  std::string text(longest_mark, '\0');
  auto size = read_at(file->get(), std::as_writable_bytes(std::span(text)), 0, path);
  if (!size) return std::nullopt;
  text.resize(*size);
  const auto value = parse_json(text, path.string());
  if (!value || !value->is_object()) return std::nullopt;
  const json::object& object = value->get_object();
  return RunMark{string_or(object, "program", ""), string_or(object, "run", ""),
                 string_or(object, "kept_by", "")};
}

Status write_mark(int folder, const std::filesystem::path& path, const RunMark& mark) {
  auto file =
      open_regular_at(folder, mark_name, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  if (!file) return propagate(file);
  const std::string text = json::serialize(json::object{{"made_by", "trainward"},
                                                        {"program", mark.program},
                                                        {"run", mark.run},
                                                        {"kept_by", mark.kept_by}}) +
                           "\n";
  if (auto written = write_all(file->get(), text, path / mark_name); !written) return written;
  if (::fsync(file->get()) != 0) return fail_errno(errno, "write it", (path / mark_name).string());
  return {};
}

// Replaces what stands there by another name in one step, where the file system can.
int exchange(int folder, const std::string& one, const std::string& other) {
  return ::renameat2(folder, one.c_str(), folder, other.c_str(), RENAME_EXCHANGE);
}

int rename_to_free(int folder, const std::string& from, const std::string& to) {
  if (::renameat2(folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != EPERM) return -1;
  struct stat info {};
  if (::fstatat(folder, to.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return -1;
  }
  return ::renameat(folder, from.c_str(), folder, to.c_str());
}

}  // namespace

// ---- a run's ----

Result<Fd> RunFolder::file(const std::string& name, bool make) const {
  const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (make ? O_CREAT : 0);
  return open_regular_at(fd_.get(), name, path_, flags, 0644);
}

bool RunFolder::has(const std::string& name, const Fd& fd) const {
  struct stat there {};
  struct stat open {};
  struct stat by_path {};
  struct stat folder {};
  return ::fstatat(fd_.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(fd.get(), &open) == 0 && there.st_ino == open.st_ino &&
         there.st_dev == open.st_dev && ::lstat(path_.c_str(), &by_path) == 0 &&
         ::fstat(fd_.get(), &folder) == 0 && by_path.st_ino == folder.st_ino;
}

Status RunFolder::sync() const {
  if (::fsync(fd_.get()) != 0) return fail_errno(errno, "write it", path_.string());
  return {};
}

// ---- the user's ----

Result<LogFolder> LogFolder::open(const std::filesystem::path& path) {
  if (auto made = make_folders(path); !made) return propagate(made);
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail_errno(errno, "open it", path.string());
  return LogFolder(path, std::move(fd));
}

Result<RunFolder> LogFolder::open_folder(const std::string& name) const {
  Fd fd(::openat(fd_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return fail_errno(errno, "open it", (path_ / name).string());
  return RunFolder(path_ / name, std::move(fd));
}

Result<LogFolder::Found> LogFolder::look(const std::string& name, const RunMark& mark,
                                         std::string* kept_by) const {
  struct stat info {};
  if (::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return Found::free;
    return fail_errno(errno, "look at it", (path_ / name).string());
  }
  if (!S_ISDIR(info.st_mode)) return Found::taken;
  const auto folder = open_folder(name);
  if (!folder) return Found::taken;
  const auto found = read_mark(folder->fd_.get(), folder->path());
  if (!found || found->run != mark.run || found->program != mark.program) return Found::taken;
  if (kept_by != nullptr) *kept_by = found->kept_by;
  return Found::ours;
}

Result<RunFolder> LogFolder::find(const RunMark& mark) const {
  for (int number = 1; number < most_names; ++number) {
    const std::string name = numbered(mark.program, number);
    auto found = look(name, mark, nullptr);
    if (!found) return propagate(found);
    if (*found == Found::ours) return open_folder(name);
    if (*found == Found::free) break;
  }
  return fail(ErrorKind::permanent, "this run has no folder there yet");
}

Result<std::string> LogFolder::keeper(const RunMark& mark) const {
  auto folder = find(mark);
  if (!folder) return propagate(folder);
  const auto found = read_mark(folder->fd_.get(), folder->path());
  return found ? found->kept_by : std::string();
}

std::string LogFolder::part_name(std::size_t number) {
  return fmt::format("{}{:08}", part_prefix, number);
}

// Of a name that only we use, what only we make.
Status LogFolder::remove_ours(const std::string& name) const {
  struct stat info {};
  if (::fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
  auto folder = open_folder(name);
  if (!folder) return propagate(folder);
  const auto names = entries(folder->fd_.get(), folder->path());
  if (!names) return fail_errno(EIO, "list it", folder->path().string());
  for (const std::string& entry : *names) {
    if (is_ours(entry)) ::unlinkat(folder->fd_.get(), entry.c_str(), 0);
  }
  if (::unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR) != 0) {
    return fail_errno(errno, "remove it", folder->path().string(),
                      "there is something in it that is not ours: move it away");
  }
  return {};
}

Result<RunFolder> LogFolder::build(const RunMark& mark) const {
  const std::string name = building_name(mark);
  if (auto removed = remove_ours(replaced_name(mark)); !removed) return propagate(removed);
  if (auto removed = remove_ours(name); !removed) return propagate(removed);
  if (::mkdirat(fd_.get(), name.c_str(), 0755) != 0) {
    return fail_errno(errno, "make it", (path_ / name).string());
  }
  auto folder = open_folder(name);
  if (!folder) return folder;
  if (auto marked = write_mark(folder->fd_.get(), folder->path(), mark); !marked) {
    return propagate(marked);
  }
  return folder;
}

Result<RunFolder> LogFolder::publish(const RunMark& mark,
                                     const std::vector<std::string>& names) const {
  const std::string built = building_name(mark);
  auto folder = open_folder(built);
  if (!folder) return folder;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (::renameat(folder->fd_.get(), part_name(i + 1).c_str(), folder->fd_.get(),
                   names[i].c_str()) != 0) {
      return fail_errno(errno, "name it", (folder->path() / names[i]).string());
    }
  }
  if (auto synced = folder->sync(); !synced) return propagate(synced);
  for (int number = 1; number < most_names; ++number) {
    const std::string name = numbered(mark.program, number);
    auto found = look(name, mark, nullptr);
    if (!found) return propagate(found);
    if (*found == Found::taken) continue;
    if (*found == Found::ours) {
      const std::string old = replaced_name(mark);
      if (exchange(fd_.get(), built, name) == 0) {
        // Under the name it was built by lies the one it replaces.
        if (::renameat(fd_.get(), built.c_str(), fd_.get(), old.c_str()) != 0) {
          return fail_errno(errno, "move it away", (path_ / built).string());
        }
      } else if (::renameat(fd_.get(), name.c_str(), fd_.get(), old.c_str()) != 0 ||
                 rename_to_free(fd_.get(), built, name) != 0) {
        return fail_errno(errno, "replace it", (path_ / name).string());
      }
    } else if (rename_to_free(fd_.get(), built, name) != 0) {
      if (errno == EEXIST || errno == ENOTEMPTY) continue;
      return fail_errno(errno, "name it", (path_ / name).string());
    }
    if (::fsync(fd_.get()) != 0) return fail_errno(errno, "write it", path_.string());
    folder = open_folder(name);
    // What cannot be removed is not ours; it is told of with the next build.
    if (folder) (void)remove_ours(replaced_name(mark));
    return folder;
  }
  return fail(ErrorKind::permanent,
              fmt::format("'{}' and {} names like it are taken by folders of others", mark.program,
                          most_names - 2),
              path_.string(), "choose another folder, or move them away");
}

}  // namespace trainward::tracking
