#include "supervisor/courier/upload/hub/hub_form.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "checkpoint/disk/checkpoint_room.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/huggingface/export.hpp"
#include "checkpoint/pytorch/export_pytorch.hpp"
#include "checkpoint/tools/convert.hpp"
#include "common/os/file.hpp"
#include "common/os/folder_removal.hpp"
#include "supervisor/courier/upload/target/file_digest.hpp"

namespace trainward::upload::hub {
namespace {

namespace fs = std::filesystem;

bool is_our_checkpoint(const Package& package) {
  return std::any_of(package.files.begin(), package.files.end(),
                     [](const File& file) { return file.name == checkpoint::name::manifest; });
}

// The copy is of about the same size; and training saves its next one on this disk as well.
Status check_room(const fs::path& scratch, const Package& package) {
  std::uint64_t bytes = 0;
  for (const File& file : package.files) bytes += static_cast<std::uint64_t>(file.size);
  auto room = checkpoint::require_room(scratch, 2 * bytes);
  if (!room) room.error().kind = ErrorKind::transient;
  return room;
}

// Removed whatever comes of it.
class ScratchFolder {
 public:
  explicit ScratchFolder(fs::path path) : path_(std::move(path)) { remove(); }
  ~ScratchFolder() { remove(); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  void remove() const { (void)remove_tree(path_); }
  fs::path path_;
};

checkpoint::IoOptions io_with(const std::stop_token& stop) {
  return {[stop](std::uint64_t, std::uint64_t) -> Status {
            if (!stop.stop_requested()) return {};
            return fail(ErrorKind::transient, "was stopped");
          },
          {}};
}

// As AGILLM-3 names and writes its own.
Status write_pytorch(const fs::path& from, const fs::path& folder, std::int64_t step,
                     const FormOptions& options) {
  if (auto ok = make_folders(folder); !ok) return ok;
  checkpoint::pytorch::ExportOptions exported;
  exported.layout = checkpoint::pytorch::Layout::legacy;
  exported.io = io_with(options.stop);
  return checkpoint::pytorch::export_pytorch(
      from, folder / fmt::format("pretrain_step{:08}.pt", step), exported);
}

Status write_form(const fs::path& from, const fs::path& folder, const Package& package,
                  std::string_view form, const FormOptions& options) {
  if (form == "pytorch") return write_pytorch(from, folder, package.step, options);
  if (form == "safetensors") {
    checkpoint::ConvertOptions convert;
    convert.save.io = io_with(options.stop);
    return checkpoint::convert_to_plain_model(from, folder, convert);
  }
  checkpoint::huggingface::ExportOptions exported;
  exported.card = options.card;
  exported.io = io_with(options.stop);
  auto done = checkpoint::huggingface::export_model(from, folder, exported);
  if (!done) return propagate(done);
  return {};
}

Result<File> open_file_of(const fs::path& folder, const fs::path& path,
                          const std::stop_token& stop) {
  File out;
  out.name = path.lexically_relative(folder).generic_string();
  auto file = open_regular(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (!file) return propagate(file);
  out.descriptor = std::move(*file);
  struct stat info {};
  if (::fstat(out.descriptor.get(), &info) != 0) {
    return fail_errno(errno, "look at", path.string());
  }
  out.size = info.st_size;
  auto digest = file_digest(out.descriptor.get(), out.size, path, 0, stop);
  if (!digest) return propagate(digest);
  out.sha256 = std::move(*digest);
  return out;
}

Result<std::vector<File>> open_files(const fs::path& folder, const std::stop_token& stop) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_regular_file(error) && !error) paths.push_back(at->path());
  }
  if (error) return fail_errno(error.value(), "read", folder.string());
  std::sort(paths.begin(), paths.end());
  std::vector<File> out;
  for (const fs::path& path : paths) {
    auto file = open_file_of(folder, path, stop);
    if (!file) return propagate(file);
    out.push_back(std::move(*file));
  }
  return out;
}

}  // namespace

Result<Package> in_form(Package package, const fs::path& checkpoint, std::string_view form,
                        const FormOptions& options) {
  if (form == "as-is" || !is_our_checkpoint(package)) return package;
  if (form != "pytorch" && form != "safetensors" && form != "folder") {
    return fail(ErrorKind::usage, fmt::format("'{}' is no form of a checkpoint", form), {},
                "as-is, pytorch, safetensors or folder");
  }
  return acting_as(options.reader, [&]() -> Result<Package> {
    const ScratchFolder around(options.scratch);
    if (auto ok = make_folders(options.scratch); !ok) return propagate(ok);
    if (auto ok = check_room(options.scratch, package); !ok) return propagate(ok);
    // Its name becomes the title of the model's card.
    const fs::path folder = options.scratch / package.program;
    if (auto ok = write_form(checkpoint, folder, package, form, options); !ok) return propagate(ok);
    auto files = open_files(folder, options.stop);
    if (!files) return propagate(files);
    package.files = std::move(*files);
    package.form = form;
    return std::move(package);
  });
}

}  // namespace trainward::upload::hub
