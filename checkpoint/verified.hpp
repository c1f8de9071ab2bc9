// A checkpoint folder after its checks: what verify() reports on, load() hands out and map() maps.
//
// The descriptors that were checked are the ones that stay open, so what is used later is what was
// verified, even when the folder is renamed or replaced meanwhile. While it lives, a shared lock on
// the folder keeps prune away.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/aligned_memory.hpp"
#include "checkpoint/disk/folder_io.hpp"
#include "checkpoint/disk/transfer.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/safetensors.hpp"
#include "common/os/mapping.hpp"

namespace trainward::checkpoint {

// headers: manifest, sizes, state and the headers of tensor files are checked; tensors are not
// read. check: every byte is read from the disk and compared with its checksum. keep: the same, and
// the bytes that were compared stay in memory.
enum class Read { headers, check, keep };

struct Verified {
  struct TensorFile {
    std::size_t file = 0;  // index into the manifest's files
    Header header;
  };

  Fd folder;
  Manifest manifest;
  std::uint64_t manifest_bytes = 0;
  std::vector<OpenFile> files;        // as in the manifest
  std::vector<AlignedMemory> memory;  // as in the manifest; empty for what was not kept
  Mapping slot;                       // of a state slot, which all files lie in
  TrainingState state;
  std::vector<TensorFile> model;
  std::vector<TensorFile> optimizer;

  // The bytes of a file that are in memory; none: they are on the disk alone.
  [[nodiscard]] std::span<const std::byte> held(std::size_t file) const {
    const auto kept = slot.bytes().empty() ? std::span<const std::byte>(memory[file].bytes())
                                           : slot.bytes().subspan(files[file].begin);
    return kept.empty() ? kept : kept.first(files[file].size);
  }
};

// `buffers` as in Transfer.
Result<Verified> open_verified(const std::filesystem::path& folder, Read how, const IoOptions& io,
                               AlignedMemory* buffers = nullptr);

// Fills in what the files mean, once what is text has been compared with its checksum. `folder`:
// the checkpoint in messages.
Status read_meaning(Verified& checkpoint, const std::filesystem::path& folder);

// Compares whole files with the manifest, byte by byte, as they are on the disk.
class FileChecker {
 public:
  // `checkpoint`, `folder` and `io` must outlive it. Progress is told of the bytes of all files.
  FileChecker(const Verified& checkpoint, const std::filesystem::path& folder, const IoOptions& io,
              AlignedMemory* buffers = nullptr);
  FileChecker(const FileChecker&) = delete;
  FileChecker& operator=(const FileChecker&) = delete;
  ~FileChecker() = default;

  // `file`: index into the manifest's files. The bytes are put into `into` if that is not empty
  // (whole pages), and shown to `take` if there is one, before it is known whether they are right.
  Status check(std::size_t file, std::span<std::byte> into, const Transfer::Take& take = {});

 private:
  const Verified& checkpoint_;
  const std::filesystem::path& folder_;
  std::uint64_t done_ = 0;
  Transfer transfer_;
};

// What is wrong with a block of a file whose checksum is `found`.
tl::unexpected<Error> damaged_block(const FileEntry& entry, std::size_t block,
                                    std::string_view found, const std::filesystem::path& where);

// A tensor file's header has changed since the file was opened.
tl::unexpected<Error> changed_header(const std::filesystem::path& where);

Summary summarize(const std::filesystem::path& folder, const Manifest& manifest,
                  std::uint64_t manifest_bytes);

}  // namespace trainward::checkpoint
