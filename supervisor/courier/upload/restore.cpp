#include "supervisor/courier/upload/restore.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/checkpoint_room.hpp"
#include "checkpoint/format/names.hpp"
#include "common/os/credentials.hpp"
#include "common/os/fault_point.hpp"
#include "common/os/file.hpp"
#include "common/os/folder.hpp"
#include "common/os/user.hpp"
#include "supervisor/courier/upload/make_target.hpp"
#include "supervisor/courier/upload/target/publication.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_pattern.hpp"
#include "supervisor/evidence/foreign/checkpoints/verify.hpp"

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

  // Where a checkpoint goes: `name`, in a folder below one of the program's.
  struct Place {
    fs::path root;
    std::string folder;  // below it; empty: `root` itself
    std::string name;
    [[nodiscard]] fs::path path() const { return root / folder / name; }
    // Beside it, so that one rename moves it there.
    [[nodiscard]] std::string temporary() const { return std::string(restoring) + name; }
  };

  Result<Place> place_of(const Remote& remote) const {
    auto place = place_by_origin(remote);
    const orders::Source& source = order_.source;
    if (!place || !source.foreign || source.patterns.empty()) return place;
    const foreign::Folders folders{source.directory, source.checkpoints};
    if (foreign::would_find(source.patterns, folders, place->path())) return place;
    return fail(ErrorKind::permanent, "is nothing that watch.checkpoints finds",
                place->path().string());
  }

  // Where it lay, if that is in a folder of the program; else below its checkpoint folder.
  Result<Place> place_by_origin(const Remote& remote) const {
    const orders::Source& source = order_.source;
    const std::string& origin = remote.origin;
    const bool in_folder = origin.starts_with(checkpoint_dir);
    const std::string rest = in_folder ? origin.substr(checkpoint_dir.size()) : origin;
    if (!origin.empty() && !is_safe_name(rest)) {
      return fail(ErrorKind::corrupt, "says of itself that it lay outside of the program's folders",
                  remote.name);
    }
    const bool elsewhere = !in_folder && source.foreign && !source.directory.empty();
    const fs::path below = origin.empty() || (!in_folder && !elsewhere) ? remote.name : rest;
    return Place{origin.empty() || !elsewhere ? source.checkpoints : source.directory,
                 below.parent_path().string(), below.filename().string()};
  }

  static bool is_folder(const Remote& remote, const Place& place) {
    return remote.files.size() > 1 || remote.files.front().name != place.name;
  }

  // What lies in the program's folders is its user's, who may turn any name there into a link: all
  // is done with that user's rights and below open folders.
  template <typename Work>
  auto as_user(const Work& work) const {
    return acting_as(user_, work);
  }

  Result<fs::path> take(const Offer& offer) const {
    auto place = place_of(offer.remote);
    if (!place) return propagate(place);
    std::optional<Folder> around;
    std::optional<Folder> inside;
    Status done = as_user([&] { return prepare(offer.remote, *place, around, inside); });
    if (done) done = fetch(offer, *inside);
    if (done) {
      fault_point("restore.fetched");
      done = as_user([&] { return finish(offer.remote, *place, *around, *inside); });
    }
    if (around) (void)as_user([&] { return around->remove_tree(place->temporary()); });
    if (!done) return propagate(done);
    return place->path();
  }

  // Folders on the way are made.
  Status prepare(const Remote& remote, const Place& place, std::optional<Folder>& around,
                 std::optional<Folder>& inside) const {
    if (auto ok = make_folders(place.root); !ok) return ok;
    auto root = Folder::open(place.root);
    if (!root) return propagate(root);
    auto folder = place.folder.empty() ? root->again() : root->make(place.folder);
    if (!folder) return propagate(folder);
    auto there = folder->look(place.name);
    if (!there) return propagate(there);
    if (*there) return occupied(place);
    if (auto ok = folder->remove_tree(place.temporary()); !ok) return ok;
    auto made = folder->make_new(place.temporary(), 0755);
    if (!made) return propagate(made);
    around = std::move(*folder);
    inside = std::move(*made);
    return require_room(remote, inside->path());
  }

  // A full disk is no reason to take an older one, and others save on it.
  static Status require_room(const Remote& remote, const fs::path& folder) {
    auto room = checkpoint::require_room(folder, static_cast<std::uint64_t>(bytes_of(remote)));
    if (!room) room.error().kind = ErrorKind::transient;
    return room;
  }

  Status fetch(const Offer& offer, const Folder& inside) const {
    RestoreProgress progress{offer.target->name, offer.remote.name, offer.remote.step, 0,
                             bytes_of(offer.remote)};
    const auto tell = [&](std::int64_t bytes) {
      progress.bytes = bytes;
      if (options_.progress) options_.progress(progress);
    };
    tell(0);
    const Into into = [&](const Remote::File& file) {
      return as_user([&]() -> Result<Fd> {
        auto folder = inside.make_for(file.name, 0755);
        if (!folder) return propagate(folder);
        return folder->open_file(fs::path(file.name).filename().string(), O_RDWR | O_CREAT | O_EXCL,
                                 0644);
      });
    };
    return offer.from->fetch(order_.source.program, offer.remote, into, tell);
  }

  Status finish(const Remote& remote, const Place& place, const Folder& around,
                const Folder& inside) const {
    if (auto ok = verify(remote, place, inside.path()); !ok) return ok;
    for (const Remote::File& file : remote.files) {
      auto folder = inside.make_for(file.name, 0755);
      if (!folder) return propagate(folder);
      if (auto ok = folder->sync(); !ok) return ok;
    }
    if (auto ok = inside.sync(); !ok) return ok;
    const auto moved =
        is_folder(remote, place)
            ? around.rename(place.temporary(), place.name, Folder::Existing::keep)
            : inside.rename(remote.files.front().name, around, place.name, Folder::Existing::keep);
    if (!moved) {
      auto there = around.look(place.name);
      return there && *there ? Status(occupied(place)) : moved;
    }
    fault_point("restore.moved");
    return around.sync();
  }

  // Digests tell that it is as it was sent, and no more.
  Status verify(const Remote& remote, const Place& place, const fs::path& folder) const {
    const bool ours = std::ranges::any_of(remote.files, [](const Remote::File& file) {
      return file.name == checkpoint::name::manifest;
    });
    if (!order_.source.foreign || ours) {
      auto verified = checkpoint::verify(folder);
      return verified ? Status() : propagate(verified);
    }
    const fs::path whole = is_folder(remote, place) ? folder : folder / place.name;
    auto verified = foreign::verify_foreign(whole, {folder.parent_path(), folder.parent_path()});
    return verified ? Status() : propagate(verified);
  }

  static tl::unexpected<Error> occupied(const Place& place) {
    return fail_errno(EEXIST, "move the checkpoint to", place.path().string(),
                      "something lies there that is no checkpoint: move it away");
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
