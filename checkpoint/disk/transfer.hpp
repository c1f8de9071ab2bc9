// Whole files between memory and the disk, past the page cache where the file system allows it,
// with several large requests in flight: as fast as the disk is.
//
// In: open files, and where bytes come from or go to. Out: every byte, in order, or an error that
// names the file and the byte. Short answers are asked again for their rest. Owns its buffers
// (64 MiB of address space, touched when used) and its queue; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "checkpoint/disk/aligned_memory.hpp"
#include "checkpoint/disk/flight.hpp"
#include "checkpoint/disk/io_queue.hpp"
#include "common/base/error.hpp"

namespace trainward::checkpoint {

// The bytes of a file to be written; they must be the same each time they are asked for.
struct FileSource {
  std::uint64_t size = 0;
  std::function<Status(std::uint64_t at, std::span<std::byte> into)> read;
  // Not null: the whole file lies here, from the start of a page to the end of one; `read` is not
  // used then.
  const std::byte* memory = nullptr;
};

FileSource source_of(std::string_view text);  // borrowed

class Transfer {
 public:
  using Take = Flight::Finish;
  // Told of every portion that is through.
  using Told = std::function<Status(std::uint64_t bytes)>;

  // `make_queue` empty: the machine's best for large files, plain calls for small ones. `buffers`:
  // used, and grown, instead of its own, so that the next Transfer need not touch new memory; one
  // Transfer at a time.
  explicit Transfer(MakeIoQueue make_queue, Told told = {}, AlignedMemory* buffers = nullptr);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() = default;

  // Writes all of `source` into an empty file that is not open elsewhere. `take` sees the bytes as
  // they are handed to the disk, in order. Not synced.
  Status write(int fd, const FileSource& source, const std::filesystem::path& where,
               const Take& take);

  // Reads `size` bytes from the start. With `into` (whole pages, room for all of it) the bytes are
  // put there and stay. A file that ends early is corrupt.
  Status read(int fd, std::uint64_t size, const std::filesystem::path& where, const Take& take,
              std::span<std::byte> into = {});

 private:
  Status need_buffers(std::uint64_t file_bytes, std::uint32_t request_bytes);
  Flight::Finish telling(Flight::Finish finish);
  IoQueue& queue_for(std::uint64_t size);

  MakeIoQueue make_queue_;
  std::unique_ptr<IoQueue> large_;  // both made when they are needed first
  std::unique_ptr<IoQueue> small_;
  AlignedMemory own_buffers_;
  AlignedMemory& buffers_;
  Told told_;
};

}  // namespace trainward::checkpoint
