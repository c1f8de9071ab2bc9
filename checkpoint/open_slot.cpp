#include "checkpoint/open_slot.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "checkpoint/cached_file.hpp"
#include "checkpoint/format/block_hash.hpp"
#include "checkpoint/slot_header.hpp"

namespace trainward::checkpoint {
namespace {

tl::unexpected<Error> bad(const std::string& name, std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), name, "the checkpoint on the disk is used");
}

Result<SlotHeader> header_of(std::span<const std::byte> bytes, const std::string& name) {
  SlotHeader header;
  const auto empty = [&] { return fail(ErrorKind::permanent, "is empty", name); };
  if (bytes.size() < page_bytes) return empty();
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != slot_magic) return empty();
  if (header.version != slot_version) {
    return bad(
        name, fmt::format("is of version {}, this program reads {}", header.version, slot_version));
  }
  if (header.complete != 1) return bad(name, "is torn: its writer was interrupted");
  const bool fits = header.files_at % page_bytes == 0 && header.files_at <= bytes.size() &&
                    header.manifest_bytes <= max_manifest_bytes &&
                    page_bytes + header.manifest_bytes <= header.files_at;
  if (!fits) return bad(name, "says of its parts what cannot be");
  return header;
}

// One behind the other, each from the start of a page.
Status place_files(Verified& checkpoint, int memory, std::uint64_t at, const std::string& name) {
  const std::uint64_t end = checkpoint.slot.bytes().size();
  for (const FileEntry& entry : checkpoint.manifest.files) {
    if (entry.size > end || at > end - entry.size) return bad(name, "ends inside " + entry.name);
    Fd fd(::fcntl(memory, F_DUPFD_CLOEXEC, 0));
    if (!fd) return fail_errno(errno, "use the memory twice", name);
    checkpoint.files.push_back({std::move(fd), entry.size, at});
    at += round_to_pages(entry.size);
  }
  checkpoint.memory.resize(checkpoint.files.size());
  return {};
}

Status check_text(const Verified& checkpoint, std::size_t file, const std::string& name) {
  const FileEntry& entry = checkpoint.manifest.files[file];
  const auto bytes = checkpoint.held(file);
  BlockHasher hasher;
  hasher.update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (hasher.finish() == entry.blocks) return {};
  return bad(name, fmt::format("has a damaged {}", entry.name));
}

// The model's and the optimizer's, by several threads.
Status check_tensors(const Verified& checkpoint, const std::string& name) {
  const auto nowhere = [](const Slot&) -> Result<std::span<std::byte>> {
    return std::span<std::byte>();
  };
  for (const auto* section : {&checkpoint.model, &checkpoint.optimizer}) {
    for (const Verified::TensorFile& tensors : *section) {
      auto ok = read_cached(checkpoint.files[tensors.file], checkpoint.manifest.files[tensors.file],
                            tensors.header.data_offset, nowhere, name);
      if (!ok) return ok;
    }
  }
  return {};
}

}  // namespace

Result<Verified> open_slot(int memory, const std::string& name, bool compared) {
  struct stat info {};
  if (::fstat(memory, &info) != 0) return fail_errno(errno, "look at the memory", name);
  auto mapped = Mapping::open(memory, static_cast<std::uint64_t>(info.st_size), name);
  if (!mapped) return propagate(mapped);
  Verified checkpoint;
  checkpoint.slot = std::move(*mapped);
  auto header = header_of(checkpoint.slot.bytes(), name);
  if (!header) return propagate(header);
  const auto text = checkpoint.slot.bytes().subspan(page_bytes, header->manifest_bytes);
  auto manifest = parse_manifest({reinterpret_cast<const char*>(text.data()), text.size()}, name);
  if (!manifest) return propagate(manifest);
  checkpoint.manifest = std::move(*manifest);
  checkpoint.manifest_bytes = text.size();
  if (auto ok = place_files(checkpoint, memory, header->files_at, name); !ok) return propagate(ok);
  for (std::size_t i = 0; i < checkpoint.files.size(); ++i) {
    if (checkpoint.manifest.files[i].name.ends_with(".safetensors")) continue;
    if (auto ok = check_text(checkpoint, i, name); !ok) return propagate(ok);
  }
  if (auto ok = read_meaning(checkpoint, name); !ok) return propagate(ok);
  if (compared) return checkpoint;
  if (auto ok = check_tensors(checkpoint, name); !ok) return propagate(ok);
  return checkpoint;
}

}  // namespace trainward::checkpoint
