#include "checkpoint/commit.hpp"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "checkpoint/disk/checkpoint_room.hpp"
#include "checkpoint/disk/file_writer.hpp"
#include "checkpoint/disk/latest.hpp"
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/progress.hpp"
#include "checkpoint/retention.hpp"
#include "checkpoint/verified.hpp"
#include "checkpoint/write_image.hpp"
#include "common/os/clock.hpp"
#include "common/os/file.hpp"
#include "common/os/folder_removal.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

// Enough for the manifest, the folder's own blocks and `latest`.
constexpr std::uint64_t spare_bytes = 1U << 20U;

Result<Manifest> write_folder(const Temporary& folder, const Image& image,
                              const TrainingState& state, const IoOptions& io,
                              AlignedMemory& buffers) {
  Manifest manifest{state.step, state.tokens, state.loss, now().wall.ms, {}};
  // Every byte is written once and read once.
  auto files = write_image(folder, image, io, 2 * image.bytes(), &buffers);
  if (!files) return propagate(files);
  manifest.files = std::move(*files);
  const std::string text = encode(manifest);
  const FileSource source = source_of(text);
  Transfer untold(io.make_queue);
  FileWriter seal(folder.fd.get(), folder.path / name::manifest, source, untold);
  auto sealed = seal.write();
  if (sealed) sealed = seal.make_durable();
  if (!sealed) return propagate(sealed);
  if (::fsync(folder.fd.get()) != 0) {
    return fail_errno(errno, "fsync the folder", folder.path.string());
  }
  return manifest;
}

// What the disk gives back must be what was in memory, not merely agree with itself.
Status read_back(const fs::path& folder, const Manifest& written, const IoOptions& io,
                 AlignedMemory& buffers) {
  const std::uint64_t bytes = written.file_bytes();
  const IoOptions second_half{part_of(io.progress, bytes, 2 * bytes), io.make_queue};
  auto found = open_verified(folder, Read::check, second_half, &buffers);
  if (found && found->manifest.files == written.files) return {};
  Error error = found ? Error{ErrorKind::corrupt,
                              "holds another manifest than was written",
                              (folder / name::manifest).string(),
                              {}}
                      : std::move(found).error();
  error.what = "read back from the disk, it " + error.what;
  error.hint = "the disk does not keep what is written to it: look at the kernel log";
  return tl::unexpected<Error>(std::move(error));
}

// What an operator wants to keep stays kept when its step is saved again.
Status carry_pin(const fs::path& from, const fs::path& to) {
  if (!is_pinned(from)) return {};
  return pin(to, pinned_because(from));
}

// Moves the finished folder to its name and proves it there.
Status commit(const Temporary& temporary, const fs::path& folder, const Manifest& manifest,
              const IoOptions& io, AlignedMemory& buffers) {
  const fs::path root = folder.parent_path();
  const bool replacing = !identity(folder).empty();
  // An older checkpoint of this step gives way only to one that has been read back already.
  if (replacing) {
    if (auto ok = read_back(temporary.path, manifest, io, buffers); !ok) return ok;
    if (auto ok = carry_pin(folder, temporary.path); !ok) return ok;
  }
  const std::string latest = read_latest(root);
  auto replaced = move_in(temporary.path, folder);
  if (!replaced) return propagate(replaced);
  auto proven = fsync_folder(root);
  if (proven) proven = read_back(folder, manifest, io, buffers);
  if (!proven) {
    // Back to how it was; the caller removes the temporary folder.
    if (*replaced) {
      (void)move_in(temporary.path, folder);
    } else {
      ::rename(folder.c_str(), temporary.path.c_str());
    }
    (void)fsync_folder(root);
    restore_latest(root, latest);
    return proven;
  }
  // Only a hint: a checkpoint that has been proven counts without it (latest_problem()).
  (void)point_latest(root, folder.filename().string());
  return {};
}

}  // namespace

Result<fs::path> commit_image(const fs::path& root, const TrainingState& state, const Image& image,
                              const IoOptions& io, AlignedMemory& buffers) {
  const fs::path folder = root / step_name(state.step);
  if (auto ok = make_root(root); !ok) return propagate(ok);
  clean_up(root);
  if (auto ok = require_room(root, image.bytes_in_pages() + spare_bytes); !ok) return propagate(ok);
  auto temporary = make_temporary(root, state.step);
  if (!temporary) return propagate(temporary);
  auto done = [&]() -> Status {
    auto manifest = write_folder(*temporary, image, state, io, buffers);
    if (!manifest) return propagate(manifest);
    return commit(*temporary, folder, *manifest, io, buffers);
  }();
  // On failure what was written, on success what was replaced. It stays for clean_up() when the
  // disk does not confirm what has been renamed: it may be the only copy after a crash.
  if (done || fsync_folder(root)) (void)remove_tree(temporary->path);
  if (!done) return propagate(done);
  return folder;
}

Result<fs::path> save(const fs::path& root, const StreamedContents& contents,
                      const SaveOptions& options) {
  auto image = plan_image(contents, options.shard_bytes, root / step_name(contents.state.step));
  if (!image) return propagate(image);
  AlignedMemory buffers;
  return commit_image(root, contents.state, *image, options.io, buffers);
}

Result<fs::path> save(const fs::path& root, const Contents& contents, const SaveOptions& options) {
  auto streamed = as_streamed(contents);
  if (!streamed) return propagate(streamed);
  return save(root, *streamed, options);
}

}  // namespace trainward::checkpoint
