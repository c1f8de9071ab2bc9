#include <unistd.h>

#include <cerrno>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/file_writer.hpp"
#include "checkpoint/disk/latest.hpp"
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/safetensors.hpp"
#include "checkpoint/format/state_file.hpp"
#include "checkpoint/verified.hpp"
#include "common/clock.hpp"
#include "common/file.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

// Everything that can be refused is refused here, before the disk is touched.
struct Prepared {
  Layout model;
  Layout optimizer;
  std::string state;
};

Result<Prepared> prepare(const Contents& contents, const fs::path& folder) {
  // "format" is what the transformers library asks of a file before it loads it.
  const std::map<std::string, std::string> metadata{
      {"format", "pt"}, {"step", fmt::to_string(contents.state.step)}, {"run", contents.state.run}};
  auto state = encode(contents.state, (folder / name::state).string());
  if (!state) return propagate(state);
  auto model = plan_safetensors(contents.model, metadata, (folder / name::model).string());
  if (!model) return propagate(model);
  auto optimizer =
      plan_safetensors(contents.optimizer, metadata, (folder / name::optimizer).string());
  if (!optimizer) return propagate(optimizer);
  return Prepared{std::move(*model), std::move(*optimizer), std::move(*state)};
}

Result<FileEntry> write_tensors(const Temporary& folder, std::string_view name,
                                const Layout& layout) {
  return write_file(folder.fd.get(), folder.path / name, layout.file_bytes,
                    [&](FileWriter& writer) -> Status {
                      if (auto ok = writer.write(layout.prefix); !ok) return ok;
                      for (const TensorView* tensor : layout.order) {
                        const auto* bytes = reinterpret_cast<const char*>(tensor->bytes.data());
                        auto ok = writer.write({bytes, tensor->bytes.size()});
                        if (!ok) return ok;
                      }
                      return {};
                    });
}

Result<FileEntry> write_text(const Temporary& folder, std::string_view name,
                             std::string_view text) {
  return write_file(folder.fd.get(), folder.path / name, text.size(),
                    [&](FileWriter& writer) { return writer.write(text); });
}

Result<Manifest> write_folder(const Temporary& folder, const Prepared& prepared,
                              const TrainingState& state) {
  Manifest manifest{state.step, state.tokens, state.loss, now().wall_ms, {}};
  auto model = write_tensors(folder, name::model, prepared.model);
  if (!model) return propagate(model);
  auto optimizer = write_tensors(folder, name::optimizer, prepared.optimizer);
  if (!optimizer) return propagate(optimizer);
  auto state_file = write_text(folder, name::state, prepared.state);
  if (!state_file) return propagate(state_file);
  manifest.files = {std::move(*model), std::move(*optimizer), std::move(*state_file)};
  auto seal = write_text(folder, name::manifest, encode(manifest));
  if (!seal) return propagate(seal);
  if (::fsync(folder.fd.get()) != 0) {
    return fail_errno(errno, "fsync the folder", folder.path.string());
  }
  return manifest;
}

// What the disk gives back must be what was in memory, not merely agree with itself.
Status read_back(const fs::path& folder, const Manifest& written) {
  auto found = open_verified(folder, ReadFrom::disk);
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

// Moves the finished folder to its name and proves it there.
Status commit(const Temporary& temporary, const fs::path& folder, const Manifest& manifest) {
  const fs::path root = folder.parent_path();
  const bool replacing = !identity(folder).empty();
  // An older checkpoint of this step gives way only to one that has been read back already.
  if (replacing) {
    if (auto ok = read_back(temporary.path, manifest); !ok) return ok;
  }
  const std::string latest = read_latest(root);
  auto replaced = move_in(temporary.path, folder);
  if (!replaced) return propagate(replaced);
  auto proven = fsync_folder(root);
  if (proven) proven = read_back(folder, manifest);
  if (proven) proven = point_latest(root, folder.filename().string());
  if (!proven) {
    // Back to how it was; the caller removes the temporary folder.
    if (*replaced) {
      (void)move_in(temporary.path, folder);
    } else {
      ::rename(folder.c_str(), temporary.path.c_str());
    }
    (void)fsync_folder(root);
    restore_latest(root, latest);
  }
  return proven;
}

}  // namespace

Result<fs::path> save(const fs::path& root, const Contents& contents) {
  const fs::path folder = root / step_name(contents.state.step);
  auto prepared = prepare(contents, folder);
  if (!prepared) return propagate(prepared);
  if (auto ok = make_root(root); !ok) return propagate(ok);
  clean_up(root);
  auto temporary = make_temporary(root, contents.state.step);
  if (!temporary) return propagate(temporary);
  auto done = [&]() -> Status {
    auto manifest = write_folder(*temporary, *prepared, contents.state);
    if (!manifest) return propagate(manifest);
    return commit(*temporary, folder, *manifest);
  }();
  // On failure what was written, on success what was replaced.
  std::error_code ignored;
  fs::remove_all(temporary->path, ignored);
  if (!done) return propagate(done);
  return folder;
}

}  // namespace trainward::checkpoint
