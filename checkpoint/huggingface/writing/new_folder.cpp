#include "checkpoint/huggingface/writing/new_folder.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "checkpoint/disk/checkpoint_room.hpp"
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/write_image.hpp"
#include "common/os/file.hpp"
#include "common/os/folder_removal.hpp"

namespace trainward::checkpoint::huggingface {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t spare = 1U << 20U;  // the folder's own blocks

Status write_files(const Temporary& folder, const Image& image, const IoOptions& io) {
  if (auto files = write_image(folder, image, io, image.bytes()); !files) return propagate(files);
  if (::fsync(folder.fd.get()) == 0) return {};
  return fail_errno(errno, "fsync the folder", folder.path.string());
}

}  // namespace

fs::path without_slash(const fs::path& folder) {
  return folder.has_filename() ? folder : folder.parent_path();
}

Status must_be_new(const fs::path& folder) {
  if (identity(folder).empty()) return {};
  return fail(ErrorKind::usage, "exists already", folder.string(),
              "nothing is ever replaced: choose another folder, or remove this one");
}

Status write_new_folder(const fs::path& folder, const Image& image, const IoOptions& io) {
  if (auto ok = must_be_new(folder); !ok) return ok;
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  if (auto ok = make_root(parent); !ok) return ok;
  if (auto ok = require_room(parent, image.bytes_in_pages() + spare); !ok) return ok;
  auto temporary = make_temporary(parent, 0);
  if (!temporary) return propagate(temporary);
  auto written = write_files(*temporary, image, io);
  if (written) written = move_to_free_name(temporary->path, folder);
  if (written) {
    written = fsync_folder(parent);
    if (written) return {};
    // A name that may be gone after a crash is not handed out.
    if (auto back = move_to_free_name(folder, temporary->path); !back) return written;
  }
  (void)remove_tree(temporary->path);
  if (auto still_new = must_be_new(folder); !still_new) return still_new;
  return written;
}

}  // namespace trainward::checkpoint::huggingface
