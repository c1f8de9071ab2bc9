#include "checkpoint/verified.hpp"

#include <sys/file.h>

#include <algorithm>

#include "checkpoint/disk/safetensors_file.hpp"
#include "checkpoint/disk/transfer.hpp"
#include "checkpoint/format/block_hash.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/state_file.hpp"
#include "checkpoint/format/tensor_files.hpp"

namespace trainward::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view hint = "use an older checkpoint, or restore this file from another copy";

tl::unexpected<Error> bad(const fs::path& where, std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), where.string(), std::string(hint));
}

Status check_size(const OpenFile& file, const FileEntry& entry, const fs::path& where) {
  if (file.size == entry.size) return {};
  return bad(where,
             fmt::format("is {} bytes, the manifest says {}: {}", file.size, entry.size,
                         file.size < entry.size ? fmt::format("cut short at byte {}", file.size)
                                                : fmt::format("grown past byte {}", entry.size)));
}

// Manifest and descriptors; sizes as they should be.
Result<Verified> open_files(const fs::path& folder) {
  Verified checkpoint;
  auto folder_fd = open_folder(folder);
  if (!folder_fd) return propagate(folder_fd);
  checkpoint.folder = std::move(*folder_fd);
  // Best effort: the writer itself reads back under its own lock, and not all file systems can.
  ::flock(checkpoint.folder.get(), LOCK_SH | LOCK_NB);
  auto manifest_file = open_member(checkpoint.folder.get(), name::manifest, folder);
  if (!manifest_file) return propagate(manifest_file);
  auto text = read_member(*manifest_file, max_manifest_bytes, folder / name::manifest);
  if (!text) return propagate(text);
  auto manifest = parse_manifest(*text, (folder / name::manifest).string());
  if (!manifest) return propagate(manifest);
  checkpoint.manifest = std::move(*manifest);
  checkpoint.manifest_bytes = text->size();
  for (const FileEntry& entry : checkpoint.manifest.files) {
    auto file = open_member(checkpoint.folder.get(), entry.name, folder);
    if (!file) return propagate(file);
    if (auto ok = check_size(*file, entry, folder / entry.name); !ok) return propagate(ok);
    checkpoint.files.push_back(std::move(*file));
  }
  checkpoint.memory.resize(checkpoint.files.size());
  return checkpoint;
}

bool is_text(std::string_view name) {
  return name == name::state || name == index_file_name(name::model) ||
         name == index_file_name(name::optimizer);
}

Status check_files(Verified& checkpoint, Read how, const IoOptions& io, AlignedMemory* buffers,
                   const fs::path& folder) {
  FileChecker checker(checkpoint, folder, io, buffers);
  for (std::size_t i = 0; i < checkpoint.files.size(); ++i) {
    const FileEntry& entry = checkpoint.manifest.files[i];
    const bool text = is_text(entry.name);
    if (how == Read::headers && !text) continue;
    // Text is parsed from the very bytes that were compared.
    if (how == Read::keep || (text && entry.size <= max_state_bytes)) {
      auto memory = AlignedMemory::allocate(entry.size);
      if (!memory) return propagate(memory);
      checkpoint.memory[i] = std::move(*memory);
    }
    if (auto ok = checker.check(i, checkpoint.memory[i].bytes()); !ok) return ok;
  }
  return {};
}

std::size_t index_of(const Manifest& manifest, std::string_view name) {
  return static_cast<std::size_t>(manifest.find(name) - manifest.files.data());
}

// `memory`: of what has not been kept.
Result<std::string_view> text_of(const Verified& checkpoint, std::string_view name,
                                 const fs::path& folder, std::string& memory) {
  const std::size_t i = index_of(checkpoint.manifest, name);
  const std::span<const std::byte> kept = checkpoint.held(i);
  if (!kept.empty()) {
    return std::string_view(reinterpret_cast<const char*>(kept.data()), kept.size());
  }
  auto text = read_member(checkpoint.files[i], max_state_bytes, folder / name);
  if (!text) return propagate(text);
  memory = std::move(*text);
  return std::string_view(memory);
}

Result<Header> header_of(const Verified& checkpoint, std::size_t i, const fs::path& where) {
  const std::span<const std::byte> kept = checkpoint.held(i);
  const OpenFile& file = checkpoint.files[i];
  if (kept.empty()) return read_safetensors_header(file.fd.get(), file.size, where.string());
  return read_safetensors_header(kept, where.string());
}

Status check_shards(const Verified& checkpoint, const std::vector<Verified::TensorFile>& files,
                    const std::string& index_name, const fs::path& folder) {
  std::string memory;
  const auto text = text_of(checkpoint, index_name, folder, memory);
  if (!text) return tl::unexpected<Error>(text.error());
  const std::string where = (folder / index_name).string();
  auto index = parse_shard_index(*text, where);
  if (!index) return propagate(index);
  std::vector<Shard> shards;
  shards.reserve(files.size());
  for (const Verified::TensorFile& file : files) {
    shards.push_back({checkpoint.manifest.files[file.file].name, &file.header});
  }
  auto ok = check_index(*index, shards, where);
  if (!ok) ok.error().hint = hint;
  return ok;
}

Result<std::vector<Verified::TensorFile>> read_section(const Verified& checkpoint,
                                                       std::string_view section,
                                                       const fs::path& folder) {
  auto names = section_files(section, checkpoint.manifest.file_names());
  if (!names) return propagate(names);
  std::vector<Verified::TensorFile> found;
  for (const std::string& name : names->tensors) {
    const std::size_t i = index_of(checkpoint.manifest, name);
    auto header = header_of(checkpoint, i, folder / name);
    if (!header) return propagate(header);
    found.push_back({i, std::move(*header)});
  }
  if (!names->index.empty()) {
    if (auto ok = check_shards(checkpoint, found, names->index, folder); !ok) return propagate(ok);
  }
  return found;
}

Status check_step(const Verified& checkpoint, const fs::path& folder) {
  const std::int64_t step = checkpoint.manifest.step;
  if (checkpoint.state.step != step) {
    return bad(folder / name::state,
               fmt::format("is of step {}, the manifest says {}", checkpoint.state.step, step));
  }
  const auto named = step_from_name(last_component(folder));
  if (named && *named != step) {
    return fail(ErrorKind::corrupt, fmt::format("holds a checkpoint of step {}", step),
                folder.string(), fmt::format("rename the folder to '{}'", step_name(step)));
  }
  return {};
}

}  // namespace

Status read_meaning(Verified& checkpoint, const fs::path& folder) {
  std::string memory;
  const auto text = text_of(checkpoint, name::state, folder, memory);
  if (!text) return tl::unexpected<Error>(text.error());
  auto state = parse_state(*text, (folder / name::state).string());
  if (!state) return propagate(state);
  checkpoint.state = std::move(*state);
  auto model = read_section(checkpoint, name::model, folder);
  if (!model) return propagate(model);
  checkpoint.model = std::move(*model);
  auto optimizer = read_section(checkpoint, name::optimizer, folder);
  if (!optimizer) return propagate(optimizer);
  checkpoint.optimizer = std::move(*optimizer);
  return check_step(checkpoint, folder);
}

FileChecker::FileChecker(const Verified& checkpoint, const fs::path& folder, const IoOptions& io,
                         AlignedMemory* buffers)
    : checkpoint_(checkpoint),
      folder_(folder),
      transfer_(
          io.make_queue,
          [this, &io, total = checkpoint.manifest.file_bytes()](std::uint64_t bytes) -> Status {
            done_ += bytes;
            return io.progress ? io.progress(done_, total) : Status();
          },
          buffers) {}

Status FileChecker::check(std::size_t file, std::span<std::byte> into, const Transfer::Take& take) {
  const FileEntry& entry = checkpoint_.manifest.files[file];
  const fs::path where = folder_ / entry.name;
  BlockHasher hasher;
  auto read = transfer_.read(
      checkpoint_.files[file].fd.get(), entry.size, where,
      [&](std::uint64_t at, std::span<const std::byte> bytes) -> Status {
        hasher.update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        return take ? take(at, bytes) : Status();
      },
      into);
  if (!read) return read;
  const std::vector<std::string> blocks = hasher.finish();
  // Equal sizes give equal numbers of blocks: parse_manifest has checked it.
  const auto found =
      std::mismatch(blocks.begin(), blocks.end(), entry.blocks.begin(), entry.blocks.end()).first;
  if (found == blocks.end()) return {};
  return damaged_block(entry, static_cast<std::size_t>(found - blocks.begin()), *found, where);
}

tl::unexpected<Error> changed_header(const fs::path& where) {
  return fail(ErrorKind::corrupt, "its header is another than a moment ago", where.string(),
              "the disk or the memory is failing: look at the kernel log");
}

tl::unexpected<Error> damaged_block(const FileEntry& entry, std::size_t block,
                                    std::string_view found, const fs::path& where) {
  const std::uint64_t begin = block * block_bytes;
  return bad(
      where,
      fmt::format("is damaged between bytes {} and {}: checksum {}, the manifest says {}", begin,
                  std::min(begin + block_bytes, entry.size) - 1, found, entry.blocks[block]));
}

Result<Verified> open_verified(const fs::path& folder, Read how, const IoOptions& io,
                               AlignedMemory* buffers) {
  auto checkpoint = open_files(folder);
  if (!checkpoint) return checkpoint;
  if (auto ok = check_files(*checkpoint, how, io, buffers, folder); !ok) return propagate(ok);
  if (auto ok = read_meaning(*checkpoint, folder); !ok) return propagate(ok);
  return checkpoint;
}

Summary summarize(const fs::path& folder, const Manifest& manifest, std::uint64_t manifest_bytes) {
  return {folder,
          manifest.step,
          manifest.tokens,
          manifest.loss,
          manifest.file_bytes() + manifest_bytes,
          manifest.created_wall_ms};
}

Result<Summary> verify(const fs::path& folder, const IoOptions& io) {
  auto checkpoint = open_verified(folder, Read::check, io);
  if (!checkpoint) return propagate(checkpoint);
  return summarize(folder, checkpoint->manifest, checkpoint->manifest_bytes);
}

}  // namespace trainward::checkpoint
