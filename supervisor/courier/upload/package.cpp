#include "supervisor/courier/upload/package.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/utf8.hpp"
#include "common/os/listing.hpp"
#include "common/os/path_trust.hpp"
#include "common/os/user.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"
#include "supervisor/courier/upload/target/publication.hpp"
#include "supervisor/evidence/foreign/checkpoints/verify.hpp"

namespace trainward::upload {
namespace {

namespace fs = std::filesystem;

constexpr int deepest = 8;
constexpr std::string_view manifest = "MANIFEST.json";
constexpr std::string_view pinned = "PINNED";

// "a/b" of `path` below `folder`; nothing: it lies elsewhere.
std::optional<std::string> below(const std::string& path, const std::string& folder) {
  if (folder.empty()) return std::nullopt;
  const std::string start = folder.ends_with('/') ? folder : folder + "/";
  if (!path.starts_with(start)) return std::nullopt;
  std::string rest = path.substr(start.size());
  if (!is_safe_name(rest)) return std::nullopt;
  return rest;
}

struct Place {
  std::string folder;  // that the way begins at
  std::string rest;
  std::string origin;
};

std::optional<Place> place_of(const orders::Source& source, const std::string& path) {
  if (auto rest = below(path, source.checkpoints)) {
    return Place{source.checkpoints, *rest, "{checkpoint_dir}/" + *rest};
  }
  if (auto rest = below(path, source.directory)) return Place{source.directory, *rest, *rest};
  return std::nullopt;
}

class Collector {
 public:
  explicit Collector(bool of_ours) : of_ours_(of_ours) {}

  Status add_file(const Folder& folder, const std::string& name, std::string shown_name) {
    const fs::path where = folder.path() / name;
    auto fd = folder.open_file(name, O_RDONLY | O_CLOEXEC);
    if (!fd) {
      // A link, a pipe, a socket: nobody can make it fit by waiting.
      if (fd.error().kind == ErrorKind::corrupt) fd.error().kind = ErrorKind::permanent;
      return propagate(fd);
    }
    struct stat info {};
    if (::fstat(fd->get(), &info) != 0) return fail_errno(errno, "look at", where.string());
    if (files_.size() == most_files) {
      return fail(ErrorKind::permanent, fmt::format("has more than {} files", most_files),
                  where.string());
    }
    files_.push_back({std::move(shown_name), std::move(*fd), info.st_size, "", modified_ns(info)});
    return {};
  }

  Status add_folder(const Folder& folder, const std::string& prefix, int depth) {
    if (depth > deepest) {
      return fail(ErrorKind::permanent, "has folders nested too deeply", folder.path().string());
    }
    Listing entries(folder.fd());
    if (!entries) return fail_errno(errno, "read the folder", folder.path().string());
    while (const char* entry = entries.next()) {
      const std::string name = entry;
      if (is_local(name, depth)) continue;
      auto info = folder.look(name);
      if (!info) return propagate(info);
      if (*info && S_ISDIR((*info)->st_mode)) {
        auto inner = folder.enter(name);
        if (!inner) return propagate(inner);
        if (auto ok = add_folder(*inner, prefix + name + "/", depth + 1); !ok) return ok;
      } else if (auto ok = add_file(folder, name, prefix + name); !ok) {
        return ok;
      }
    }
    return {};
  }

  // The manifest comes last, so that half of a folder of ours is seen to lack it.
  std::vector<File> take() {
    std::sort(files_.begin(), files_.end(), [](const File& a, const File& b) {
      return std::pair(a.name == manifest, a.name) < std::pair(b.name == manifest, b.name);
    });
    return std::move(files_);
  }

 private:
  // What says something of this box alone.
  [[nodiscard]] bool is_local(const std::string& name, int depth) const {
    return depth == 0 && (name == pinned || (of_ours_ && name.starts_with('.')));
  }

  bool of_ours_;
  std::vector<File> files_;
};

Result<OpenedPackage> open_files(const orders::Source& source, const Candidate& candidate,
                                 const Place& place) {
  OpenedPackage out;
  Package& package = out.package;
  package.program = source.program;
  package.name = candidate.name;
  package.step = candidate.step;
  package.origin = place.origin;
  package.saved_ms = candidate.at_ms;
  if (candidate.milestone) package.milestone = fmt::format("step-{}", candidate.step);

  const fs::path rest = place.rest;
  const std::string name = rest.filename().string();
  auto folder = Folder::open(place.folder);
  if (folder && rest.has_parent_path()) folder = folder->enter(rest.parent_path().string());
  if (!folder) return propagate(folder);
  auto info = folder->look(name);
  if (!info) return propagate(info);
  Collector collector(!source.foreign);
  if (*info && S_ISDIR((*info)->st_mode)) {
    auto inner = folder->enter(name);
    if (!inner) return propagate(inner);
    // As everyone who loads a checkpoint does; without it the descriptors still keep the bytes.
    (void)::flock(inner->fd(), LOCK_SH | LOCK_NB);
    if (auto ok = collector.add_folder(*inner, "", 0); !ok) return propagate(ok);
    out.folder = std::move(*inner);
  } else if (auto ok = collector.add_file(*folder, name, name); !ok) {
    return propagate(ok);
  }
  package.files = collector.take();
  if (package.files.empty()) {
    return fail(ErrorKind::permanent, "holds no file", (folder->path() / name).string());
  }
  if (auto ok = check_readable(package); !ok) return propagate(ok);
  return out;
}

// The program's user, or the user who could redirect the path to its folder.
Result<std::optional<Credentials>> reader_of(const orders::Source& source, const Place& place) {
  if (source.user.empty()) return rights_in(place.folder);
  auto found = find_user(source.user);
  if (!found) return propagate(found);
  return found->credentials;
}

// After it was opened, so that what is written over it from now on changes its files' times: a
// program that was ended while it wrote leaves half of one, which is not what was verified.
Status verify(const orders::Source& source, const Candidate& candidate, const Package& package) {
  const bool ours = std::any_of(package.files.begin(), package.files.end(),
                                [](const File& file) { return file.name == manifest; });
  if (!source.foreign || ours) return {};
  auto verified = foreign::verify_foreign(candidate.path, {source.directory, source.checkpoints},
                                          foreign::Writer::alive);
  return verified ? Status() : propagate(verified);
}

}  // namespace

Result<OpenedPackage> open_package(const orders::Source& source, const Candidate& candidate,
                                   Memory& memory, const std::stop_token& stop,
                                   const PartBytes& part_bytes) {
  const auto place = place_of(source, candidate.path);
  if (!place && !is_utf8(candidate.path)) {
    return fail(ErrorKind::permanent, "has a name that is not UTF-8, which no record can hold",
                valid_utf8(candidate.path), "rename the checkpoint, or the folder that it lies in");
  }
  if (!place) {
    return fail(ErrorKind::permanent, "lies in none of the program's folders", candidate.path);
  }
  auto user = reader_of(source, *place);
  if (!user) return propagate(user);
  auto opened = acting_as(*user, [&]() -> Result<OpenedPackage> {
    auto files = open_files(source, candidate, *place);
    if (!files) return files;
    if (auto ok = verify(source, candidate, files->package); !ok) return propagate(ok);
    return files;
  });
  if (!opened) return opened;
  opened->reader = std::move(*user);
  struct stat info {};
  const int file =
      opened->folder ? opened->folder->fd() : opened->package.files[0].descriptor.get();
  if (!opened->reader && ::geteuid() == 0 && ::fstat(file, &info) == 0 && info.st_uid != 0) {
    auto owner = credentials_of(info.st_uid);
    if (!owner) return propagate(owner);
    opened->reader = std::move(*owner);
  }
  for (File& file : opened->package.files) {
    const std::int64_t part = part_bytes ? part_bytes(file.size) : 0;
    const std::string where = candidate.path + "/" + file.name;
    if (auto ok = take_digests(file, part, where, memory, stop); !ok) return propagate(ok);
  }
  return opened;
}

std::string published_name(const std::string& path, std::int64_t step) {
  std::string name = fs::path(path).filename().string();
  const std::string digits = std::to_string(step);
  for (auto at = name.find(digits); at != std::string::npos; at = name.find(digits, at + 1)) {
    auto begin = at;
    while (begin > 0 && name[begin - 1] == '0') --begin;
    const auto end = at + digits.size();
    const bool whole = (begin == 0 || name[begin - 1] < '0' || name[begin - 1] > '9') &&
                       (end == name.size() || name[end] < '0' || name[end] > '9');
    if (whole) return name;
  }
  return fmt::format("{}.step-{}", name, step);
}

}  // namespace trainward::upload
