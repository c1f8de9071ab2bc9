#include "supervisor/upload/restore.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/room.hpp"
#include "checkpoint/format/names.hpp"
#include "common/os/credentials.hpp"
#include "common/os/fault_point.hpp"
#include "common/os/file.hpp"
#include "common/os/folder_removal.hpp"
#include "common/os/rename.hpp"
#include "common/os/user.hpp"
#include "supervisor/foreign/checkpoints/pattern.hpp"
#include "supervisor/foreign/checkpoints/verify.hpp"
#include "supervisor/upload/folder/copy_bytes.hpp"
#include "supervisor/upload/make_target.hpp"
#include "supervisor/upload/publication.hpp"

namespace trainward::upload {
namespace {

namespace fs = std::filesystem;

// "tmp" is what a checkpoint that is being written is called, to those who look by pattern too.
constexpr std::string_view restoring = ".tmp-restore-";
constexpr std::string_view checkpoint_dir = "{checkpoint_dir}/";

// For as long as a restore lives.
class Notes : public Memory {
 public:
  Result<std::optional<std::string>> get(const std::string& key) override {
    const auto found = values_.find(key);
    if (found == values_.end()) return std::optional<std::string>();
    return std::optional(found->second);
  }
  Status put(const std::string& key, const std::string& value) override {
    values_[key] = value;
    return {};
  }
  Status forget(const std::string& prefix) override {
    std::erase_if(values_, [&](const auto& one) { return one.first.starts_with(prefix); });
    return {};
  }

 private:
  std::map<std::string, std::string> values_;
};

struct Offer {
  const orders::Target* target;
  Target* from;
  Remote remote;
};

std::int64_t bytes_of(const Remote& remote) {
  std::int64_t bytes = 0;
  for (const Remote::File& file : remote.files) bytes += file.size;
  return bytes;
}

class Restore {
 public:
  Restore(const orders::UploadOrder& order, const RestoreOptions& options,
          std::optional<Credentials> user)
      : order_(order), options_(options), user_(std::move(user)) {}

  Result<Restored> run() {
    if (auto ok = ask_all(); !ok) return propagate(ok);
    // The newest that is whole, where it cannot be had just now: an older one would throw away what
    // was trained since. Another target may have the same.
    const Remote* wanted = nullptr;
    for (const Offer& offer : offers_) {
      if (options_.stop.stop_requested()) return fail(ErrorKind::transient, "stopped");
      if (wanted != nullptr && !same_content(offer.remote, *wanted)) continue;
      auto path = take(offer);
      if (path) {
        return Restored{path->string(), offer.remote.name, offer.target->name, offer.remote.step,
                        bytes_of(offer.remote)};
      }
      const bool later = path.error().kind == ErrorKind::transient;
      note(fmt::format("step {} of '{}' {}: {}", offer.remote.step, offer.target->name,
                       later ? "cannot be had now" : "is passed over", path.error().message()));
      if (later) wanted = &offer.remote;
      if (!failed_ || failed_->kind != ErrorKind::transient) failed_ = path.error();
    }
    if (failed_) return tl::unexpected(*failed_);
    return Restored{};
  }

 private:
  void note(const std::string& text) const {
    if (options_.note) options_.note(text);
  }

  // What each of them has, the newest of all first; of equal ones in the order of the file.
  Status ask_all() {
    const TargetOptions options{options_.network, options_.stop, order_.upload.bytes_per_second};
    for (const orders::Target& target : order_.upload.targets) {
      notes_.push_back(std::make_unique<Notes>());
      auto made = make_target(target, *notes_.back(), options);
      auto list = made ? (*made)->list(order_.source.program)
                       : Result<std::vector<Remote>>(tl::unexpected(made.error()));
      if (options_.stop.stop_requested()) return fail(ErrorKind::transient, "stopped");
      if (!list) {
        note(fmt::format("target '{}': {}", target.name, list.error().message()));
        list.error().what = fmt::format("target '{}': {}", target.name, list.error().what);
        if (!failed_ || failed_->kind != ErrorKind::transient) failed_ = list.error();
        continue;
      }
      targets_.push_back(std::move(*made));
      for (Remote& remote : *list) {
        if (!remote.form.empty()) continue;
        offers_.push_back({&target, targets_.back().get(), std::move(remote)});
      }
    }
    std::stable_sort(offers_.begin(), offers_.end(),
                     [](const Offer& a, const Offer& b) { return is_newer(a.remote, b.remote); });
    return {};
  }

  Result<fs::path> place_of(const Remote& remote) const {
    auto place = place_by_origin(remote);
    const orders::Source& source = order_.source;
    if (!place || !source.foreign || source.patterns.empty()) return place;
    const foreign::Folders folders{source.directory, source.checkpoints};
    if (foreign::would_find(source.patterns, folders, *place)) return place;
    return fail(ErrorKind::permanent, "is nothing that watch.checkpoints finds", place->string());
  }

  // Where it lay, if that is in a folder of the program; else below its checkpoint folder.
  Result<fs::path> place_by_origin(const Remote& remote) const {
    const std::string& origin = remote.origin;
    const bool in_folder = origin.starts_with(checkpoint_dir);
    const std::string rest = in_folder ? origin.substr(checkpoint_dir.size()) : origin;
    if (origin.empty()) return fs::path(order_.source.checkpoints) / remote.name;
    if (!is_safe_name(rest)) {
      return fail(ErrorKind::corrupt, "says of itself that it lay outside of the program's folders",
                  remote.name);
    }
    if (in_folder) return fs::path(order_.source.checkpoints) / rest;
    if (order_.source.foreign && !order_.source.directory.empty()) {
      return fs::path(order_.source.directory) / rest;
    }
    return fs::path(order_.source.checkpoints) / remote.name;
  }

  static bool is_folder(const Remote& remote, const fs::path& place) {
    return remote.files.size() > 1 || remote.files.front().name != place.filename().string();
  }

  // Folders on the way are made; a link that is there already could lead anywhere.
  Status make_way(const fs::path& folder, const fs::path& root) const {
    fs::path at = root;
    if (auto ok = make_folders(root); !ok) return ok;
    for (const fs::path& part : folder.lexically_relative(root)) {
      if (part == ".") continue;
      at /= part;
      struct stat info {};
      if (::lstat(at.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) {
        return fail(ErrorKind::permanent, "is a link or no folder", at.string(),
                    "a checkpoint is to be restored below it: move it away");
      }
    }
    return make_folders(folder);
  }

  Result<fs::path> take(const Offer& offer) {
    auto place = place_of(offer.remote);
    if (!place) return place;
    struct stat info {};
    if (::lstat(place->c_str(), &info) == 0) return occupied(EEXIST, *place);
    const fs::path folder = place->parent_path();
    const fs::path beside = folder / (std::string(restoring) + place->filename().string());
    const fs::path checkpoints = order_.source.checkpoints;
    // Nobody but the supervisor reaches what lies beside the checkpoint folder.
    const fs::path fetched = user_ ? checkpoints.parent_path() / restoring : beside;
    const auto acting_in = [&](const auto& work) -> Status {
      const ActingAs acting(user_);
      if (acting) return work();
      return fail(ErrorKind::transient, "this process may not act as the program's user",
                  order_.source.user);
    };
    const bool inside = !folder.lexically_relative(checkpoints).string().starts_with("..");
    const fs::path root = inside ? checkpoints : fs::path(order_.source.directory);
    Status ready = acting_in([&]() -> Status {
      if (auto ok = make_way(folder, root); !ok) return ok;
      return user_ ? remove_tree(beside) : Status();
    });
    if (ready) ready = remove_tree(fetched);
    if (ready) ready = make_folders(fetched);
    if (ready) ready = require_room(offer.remote, fetched);
    if (ready) ready = fetch(offer, fetched, *place);
    if (ready && user_) {
      std::vector<Fd> files;
      ready = open_all(offer.remote, fetched, files);
      if (ready) ready = acting_in([&] { return copy_all(offer.remote, files, beside); });
      // Before the copy is in its place: nobody would come by here again.
      (void)remove_tree(fetched);
    }
    if (ready) ready = acting_in([&] { return move_in(offer.remote, beside, *place); });
    (void)acting_in([&] { return remove_tree(beside); });
    if (user_) (void)remove_tree(fetched);
    if (!ready) return propagate(ready);
    return place;
  }

  static Status open_all(const Remote& remote, const fs::path& folder, std::vector<Fd>& files) {
    for (const Remote::File& file : remote.files) {
      auto opened = open_regular(folder / file.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
      if (!opened) return propagate(opened);
      files.push_back(std::move(*opened));
    }
    return {};
  }

  // For a program of another user: the files are made by that user, of bytes that were compared
  // where the user could not reach them.
  Status copy_all(const Remote& remote, const std::vector<Fd>& files, const fs::path& to) const {
    const TargetOptions options{{}, options_.stop, 0};
    for (std::size_t i = 0; i < files.size(); ++i) {
      const Remote::File& file = remote.files[i];
      const fs::path path = to / file.name;
      if (auto ok = make_folders(path.parent_path()); !ok) return ok;
      auto copy = open_regular(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
      if (!copy) return propagate(copy);
      if (auto ok = copy_bytes(files[i].get(), copy->get(), 0, file.size, options, path, {}); !ok) {
        return ok;
      }
      if (::fsync(copy->get()) != 0) return fail_errno(errno, "sync", path.string());
    }
    return fsync_tree(to);
  }

  // A full disk is no reason to take an older one, and others save on it.
  Status require_room(const Remote& remote, const fs::path& folder) const {
    const auto bytes = static_cast<std::uint64_t>(bytes_of(remote));
    auto room = checkpoint::require_room(folder, user_ ? 2 * bytes : bytes);
    if (!room) room.error().kind = ErrorKind::transient;
    return room;
  }

  // Digests tell that it is as it was sent, and no more.
  Status verify(const Remote& remote, const fs::path& folder, const fs::path& place) const {
    std::error_code error;
    if (!order_.source.foreign || fs::exists(folder / checkpoint::name::manifest, error)) {
      auto verified = checkpoint::verify(folder);
      return verified ? Status() : propagate(verified);
    }
    const fs::path whole = is_folder(remote, place) ? folder : folder / place.filename();
    auto verified = foreign::verify_foreign(whole, {folder.parent_path(), folder.parent_path()});
    return verified ? Status() : propagate(verified);
  }

  Status fetch(const Offer& offer, const fs::path& into, const fs::path& place) const {
    RestoreProgress progress{offer.target->name, offer.remote.name, offer.remote.step, 0,
                             bytes_of(offer.remote)};
    const auto tell = [&](std::int64_t bytes) {
      progress.bytes = bytes;
      if (options_.progress) options_.progress(progress);
    };
    tell(0);
    if (auto ok = offer.from->fetch(order_.source.program, offer.remote, into, tell); !ok) {
      return ok;
    }
    fault_point("restore.fetched");
    if (auto ok = verify(offer.remote, into, place); !ok) return ok;
    return fsync_tree(into);
  }

  static Status fsync_tree(const fs::path& folder) {
    std::error_code error;
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
      if (!at->is_directory()) continue;
      if (auto ok = fsync_folder(at->path()); !ok) return ok;
    }
    return fsync_folder(folder);
  }

  static tl::unexpected<Error> occupied(int error, const fs::path& place) {
    return fail_errno(error, "move the checkpoint to", place.string(),
                      "something lies there that is no checkpoint: move it away");
  }

  static Status move_in(const Remote& remote, const fs::path& temporary, const fs::path& place) {
    const fs::path whole =
        is_folder(remote, place) ? temporary : temporary / remote.files.front().name;
    if (const auto error = rename_if_free(whole, place); error) {
      return occupied(error.value(), place);
    }
    fault_point("restore.moved");
    return fsync_folder(place.parent_path());
  }

  const orders::UploadOrder& order_;
  const RestoreOptions& options_;
  std::optional<Credentials> user_;
  std::vector<std::unique_ptr<Notes>> notes_;  // borrowed by the targets
  std::vector<std::unique_ptr<Target>> targets_;
  std::vector<Offer> offers_;
  std::optional<Error> failed_;
};

}  // namespace

Result<Restored> restore(const orders::UploadOrder& order, const RestoreOptions& options) {
  std::optional<Credentials> user;
  if (!order.source.user.empty()) {
    auto found = find_user(order.source.user);
    if (!found) return propagate(found);
    user = found->credentials;
  }
  return Restore(order, options, user).run();
}

}  // namespace trainward::upload
