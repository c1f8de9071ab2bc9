#include "supervisor/courier/tracking/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/digest.hpp"
#include "common/base/json/json.hpp"
#include "common/os/file.hpp"
#include "common/os/path_trust.hpp"

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

std::optional<RunMark> read_mark(const Folder& folder) {
  const auto text = folder.read(mark_name, longest_mark);
  if (!text) return std::nullopt;
  const auto value = parse_json(*text, folder.path().string());
  if (!value || !value->is_object()) return std::nullopt;
  const json::object& object = value->get_object();
  return RunMark{string_or(object, "program", ""), string_or(object, "run", ""),
                 string_or(object, "kept_by", "")};
}

Status write_mark(const Folder& folder, const RunMark& mark) {
  const std::string text = json::serialize(json::object{{"made_by", "trainward"},
                                                        {"program", mark.program},
                                                        {"run", mark.run},
                                                        {"kept_by", mark.kept_by}}) +
                           "\n";
  return folder.write_durably(mark_name, text, 0644);
}

// Replaces what stands there by another name in one step, where the file system can.
bool exchange(const Folder& folder, const std::string& one, const std::string& other) {
  return ::renameat2(folder.fd(), one.c_str(), folder.fd(), other.c_str(), RENAME_EXCHANGE) == 0;
}

}  // namespace

// ---- a run's ----

Result<Fd> RunFolder::file(const std::string& name, bool make) const {
  return acting_as(rights_,
                   [&] { return folder_.open_file(name, O_RDWR | (make ? O_CREAT : 0), 0644); });
}

bool RunFolder::has(const std::string& name, const Fd& fd) const {
  struct stat open {};
  struct stat by_path {};
  struct stat folder {};
  const auto there = folder_.look(name);
  return there && *there && ::fstat(fd.get(), &open) == 0 && (*there)->st_ino == open.st_ino &&
         (*there)->st_dev == open.st_dev && ::lstat(path().c_str(), &by_path) == 0 &&
         ::fstat(folder_.fd(), &folder) == 0 && by_path.st_ino == folder.st_ino;
}

// ---- the user's ----

Result<LogFolder> LogFolder::open(const std::filesystem::path& path) {
  auto rights = rights_in(path);
  if (!rights) return propagate(rights);
  return acting_as(*rights, [&]() -> Result<LogFolder> {
    if (auto made = make_folders(path); !made) return propagate(made);
    auto folder = Folder::open(path);
    if (!folder) return propagate(folder);
    return LogFolder(std::move(*folder), *rights);
  });
}

template <typename Work>
Result<RunFolder> LogFolder::of_run(const Work& work) const {
  auto folder = acting_as(rights_, work);
  if (!folder) return propagate(folder);
  return RunFolder(std::move(*folder), rights_);
}

Result<LogFolder::Found> LogFolder::look(const std::string& name, const RunMark& mark) const {
  auto info = folder_.look(name);
  if (!info) return propagate(info);
  if (!*info) return Found::free;
  if (!S_ISDIR((*info)->st_mode)) return Found::taken;
  const auto folder = folder_.enter(name);
  if (!folder) return Found::taken;
  const auto found = read_mark(*folder);
  return found && found->run == mark.run && found->program == mark.program ? Found::ours
                                                                           : Found::taken;
}

Result<Folder> LogFolder::find_folder(const RunMark& mark) const {
  for (int number = 1; number < most_names; ++number) {
    const std::string name = numbered(mark.program, number);
    auto found = look(name, mark);
    if (!found) return propagate(found);
    if (*found == Found::ours) return folder_.enter(name);
    if (*found == Found::free) break;
  }
  return fail(ErrorKind::permanent, "this run has no folder there yet");
}

Result<RunFolder> LogFolder::find(const RunMark& mark) const {
  return of_run([&] { return find_folder(mark); });
}

Result<std::string> LogFolder::keeper(const RunMark& mark) const {
  return acting_as(rights_, [&]() -> Result<std::string> {
    auto folder = find_folder(mark);
    if (!folder) return propagate(folder);
    const auto found = read_mark(*folder);
    return found ? found->kept_by : std::string();
  });
}

std::string LogFolder::part_name(std::size_t number) {
  return fmt::format("{}{:08}", part_prefix, number);
}

// Of a name that only we use, what only we make.
Status LogFolder::remove_ours(const std::string& name) const {
  auto folder = folder_.find(name);
  if (!folder) return propagate(folder);
  if (!*folder) return {};
  auto names = (*folder)->names();
  if (!names) return propagate(names);
  for (const std::string& entry : *names) {
    if (is_ours(entry)) (void)(*folder)->remove_file(entry);
  }
  auto removed = folder_.remove_folder(name);
  if (!removed) removed.error().hint = "there is something in it that is not ours: move it away";
  return removed;
}

Result<Folder> LogFolder::build_folder(const RunMark& mark) const {
  const std::string name = building_name(mark);
  if (auto removed = remove_ours(replaced_name(mark)); !removed) return propagate(removed);
  if (auto removed = remove_ours(name); !removed) return propagate(removed);
  auto folder = folder_.make_new(name, 0755);
  if (!folder) return folder;
  if (auto marked = write_mark(*folder, mark); !marked) return propagate(marked);
  return folder;
}

Result<RunFolder> LogFolder::build(const RunMark& mark) const {
  return of_run([&] { return build_folder(mark); });
}

// What was built, under a name that is free or of the one that it replaces, which is moved away.
Status LogFolder::put_in_place(const RunMark& mark, const std::string& name, Found found) const {
  const std::string built = building_name(mark);
  const std::string old = replaced_name(mark);
  if (found == Found::ours) {
    // Under the name it was built by lies the one it replaces.
    if (exchange(folder_, built, name)) return folder_.rename(built, old);
    if (auto moved = folder_.rename(name, old); !moved) return moved;
  }
  return folder_.rename(built, name, Folder::Existing::keep);
}

Result<Folder> LogFolder::publish_folder(const RunMark& mark,
                                         const std::vector<std::string>& names) const {
  auto built = folder_.enter(building_name(mark));
  if (!built) return built;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (auto named = built->rename(part_name(i + 1), names[i]); !named) return propagate(named);
  }
  if (auto synced = built->sync(); !synced) return propagate(synced);
  for (int number = 1; number < most_names; ++number) {
    const std::string name = numbered(mark.program, number);
    auto found = look(name, mark);
    if (!found) return propagate(found);
    if (*found == Found::taken) continue;
    if (auto placed = put_in_place(mark, name, *found); !placed) {
      auto now = look(name, mark);
      if (*found == Found::free && now && *now != Found::free) continue;  // somebody was faster
      return propagate(placed);
    }
    if (auto synced = folder_.sync(); !synced) return propagate(synced);
    auto folder = folder_.enter(name);
    // What cannot be removed is not ours; it is told of with the next build.
    if (folder) (void)remove_ours(replaced_name(mark));
    return folder;
  }
  return fail(ErrorKind::permanent,
              fmt::format("'{}' and {} names like it are taken by folders of others", mark.program,
                          most_names - 2),
              folder_.path().string(), "choose another folder, or move them away");
}

Result<RunFolder> LogFolder::publish(const RunMark& mark,
                                     const std::vector<std::string>& names) const {
  return of_run([&] { return publish_folder(mark, names); });
}

}  // namespace trainward::tracking
