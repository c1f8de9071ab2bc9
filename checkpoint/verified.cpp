#include "checkpoint/verified.hpp"

#include <algorithm>

#include "checkpoint/format/block_hash.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/state_file.hpp"

namespace trainward::checkpoint {
namespace {

constexpr std::string_view hint = "use an older checkpoint, or restore this file from another copy";

Status check_bytes(const OpenFile& file, const FileEntry& entry, ReadFrom from,
                   const std::filesystem::path& where) {
  if (file.size != entry.size) {
    return fail(ErrorKind::corrupt,
                fmt::format("is {} bytes, the manifest says {}: {}", file.size, entry.size,
                            file.size < entry.size ? fmt::format("cut short at byte {}", file.size)
                                                   : fmt::format("grown past byte {}", entry.size)),
                where.string(), std::string(hint));
  }
  BlockHasher hasher;
  auto read = read_through(file, from == ReadFrom::disk, where,
                           [&](std::uint64_t, std::string_view bytes) -> Status {
                             hasher.update(bytes);
                             return {};
                           });
  if (!read) return read;
  const std::vector<std::string> blocks = hasher.finish();
  // Equal sizes give equal numbers of blocks: parse_manifest has checked it.
  const auto [found, expected] =
      std::mismatch(blocks.begin(), blocks.end(), entry.blocks.begin(), entry.blocks.end());
  if (found == blocks.end()) return {};
  const auto begin = static_cast<std::uint64_t>(found - blocks.begin()) * block_bytes;
  return fail(ErrorKind::corrupt,
              fmt::format("is damaged between bytes {} and {}: checksum {}, the manifest says {}",
                          begin, std::min(begin + block_bytes, entry.size) - 1, *found, *expected),
              where.string(), std::string(hint));
}

Status check_step(const Verified& checkpoint, const std::filesystem::path& folder) {
  const std::int64_t step = checkpoint.manifest.step;
  if (checkpoint.state.step != step) {
    return fail(ErrorKind::corrupt,
                fmt::format("is of step {}, the manifest says {}", checkpoint.state.step, step),
                (folder / name::state).string(), std::string(hint));
  }
  const auto named = step_from_name(last_component(folder));
  if (named && *named != step) {
    return fail(ErrorKind::corrupt, fmt::format("holds a checkpoint of step {}", step),
                folder.string(), fmt::format("rename the folder to '{}'", step_name(step)));
  }
  return {};
}

}  // namespace

Result<Verified> open_verified(const std::filesystem::path& folder, ReadFrom from) {
  auto folder_fd = open_folder(folder);
  if (!folder_fd) return propagate(folder_fd);
  const std::filesystem::path manifest_path = folder / name::manifest;
  auto manifest_file = open_member(folder_fd->get(), name::manifest, folder);
  if (!manifest_file) return propagate(manifest_file);
  auto manifest_text = read_member(*manifest_file, max_manifest_bytes, manifest_path);
  if (!manifest_text) return propagate(manifest_text);
  auto manifest = parse_manifest(*manifest_text, manifest_path.string());
  if (!manifest) return propagate(manifest);

  Verified checkpoint;
  checkpoint.manifest = std::move(*manifest);
  checkpoint.manifest_bytes = manifest_text->size();
  for (const FileEntry& entry : checkpoint.manifest.files) {
    const std::filesystem::path where = folder / entry.name;
    auto file = open_member(folder_fd->get(), entry.name, folder);
    if (!file) return propagate(file);
    if (auto ok = check_bytes(*file, entry, from, where); !ok) return propagate(ok);
    if (entry.name == name::state) {
      auto text = read_member(*file, max_state_bytes, where);
      if (!text) return propagate(text);
      auto state = parse_state(*text, where.string());
      if (!state) return propagate(state);
      checkpoint.state = std::move(*state);
    } else if (entry.name == name::model || entry.name == name::optimizer) {
      auto header = read_safetensors_header(file->fd.get(), file->size, where.string());
      if (!header) return propagate(header);
      const bool is_model = entry.name == name::model;
      (is_model ? checkpoint.model : checkpoint.optimizer) = std::move(*header);
      (is_model ? checkpoint.model_file : checkpoint.optimizer_file) = std::move(*file);
    }
  }
  if (auto ok = check_step(checkpoint, folder); !ok) return propagate(ok);
  return checkpoint;
}

Summary summarize(const std::filesystem::path& folder, const Manifest& manifest,
                  std::uint64_t manifest_bytes) {
  return {folder,
          manifest.step,
          manifest.tokens,
          manifest.loss,
          manifest.file_bytes() + manifest_bytes,
          manifest.created_wall_ms};
}

Result<Summary> verify(const std::filesystem::path& folder) {
  auto checkpoint = open_verified(folder, ReadFrom::disk);
  if (!checkpoint) return propagate(checkpoint);
  return summarize(folder, checkpoint->manifest, checkpoint->manifest_bytes);
}

}  // namespace trainward::checkpoint
