#include "checkpoint/disk/transfer.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "checkpoint/disk/direct_io.hpp"

namespace trainward::checkpoint {
namespace {

// Measured: disks want large writes; reads are as fast when they are smaller, and the first touch
// of their buffers takes less time.
constexpr std::uint32_t write_bytes = 4U << 20U;
constexpr std::uint32_t read_bytes = 1U << 20U;

}  // namespace

FileSource source_of(std::string_view text) {
  return {text.size(), [text](std::uint64_t at, std::span<std::byte> into) -> Status {
            std::memcpy(into.data(), text.data() + at, into.size());
            return {};
          }};
}

Transfer::Transfer(MakeIoQueue make_queue, Told told, AlignedMemory* buffers)
    : make_queue_(std::move(make_queue)),
      buffers_(buffers == nullptr ? own_buffers_ : *buffers),
      told_(std::move(told)) {}

// To set up a ring takes longer than to write a small file.
IoQueue& Transfer::queue_for(std::uint64_t size) {
  const bool small = size <= write_bytes && !make_queue_;
  auto& queue = small ? small_ : large_;
  if (!queue) queue = small ? make_plain_queue() : make_queue_ ? make_queue_() : make_io_queue();
  return *queue;
}

// Only as much as the file can use: huge pages for a few hundred bytes would take longer to clear
// than the file to write.
Status Transfer::need_buffers(std::uint64_t file_bytes, std::uint32_t request_bytes) {
  const std::uint64_t needed = std::min<std::uint64_t>(
      std::uint64_t{IoQueue::depth} * request_bytes, round_to_pages(file_bytes));
  if (buffers_.bytes().size() >= needed) return {};
  auto memory = AlignedMemory::allocate(needed);
  if (!memory) return propagate(memory);
  buffers_ = std::move(*memory);
  return {};
}

Flight::Finish Transfer::telling(Flight::Finish finish) {
  return [this, finish = std::move(finish)](std::uint64_t at,
                                            std::span<const std::byte> bytes) -> Status {
    if (auto ok = finish(at, bytes); !ok) return ok;
    return told_ ? told_(bytes.size()) : Status();
  };
}

Status Transfer::write(int fd, const FileSource& source, const std::filesystem::path& where,
                       const Take& take) {
  if (source.memory == nullptr) {
    if (auto ok = need_buffers(source.size, write_bytes); !ok) return ok;
  }
  const bool direct = source.size >= write_bytes && make_direct(fd);
  const auto prepare = [&](unsigned slot, std::uint64_t at,
                           std::uint32_t bytes) -> Result<std::byte*> {
    if (source.memory != nullptr) {
      if (auto ok = take(at, {source.memory + at, bytes}); !ok) return propagate(ok);
      // The queue only reads what it writes to the disk.
      return const_cast<std::byte*>(source.memory) + at;
    }
    std::byte* memory = buffers_.bytes().data() + std::size_t{slot} * write_bytes;
    if (auto ok = source.read(at, {memory, bytes}); !ok) return propagate(ok);
    std::fill(memory + bytes, memory + round_to_pages(bytes), std::byte{0});
    if (auto ok = take(at, {memory, bytes}); !ok) return propagate(ok);
    return memory;
  };
  const auto finish = [&](std::uint64_t at, std::span<const std::byte> bytes) -> Status {
    // Only a hint to start early; fsync reports what goes wrong.
    if (!direct) {
      ::sync_file_range(fd, static_cast<off_t>(at), static_cast<off_t>(bytes.size()),
                        SYNC_FILE_RANGE_WRITE);
    }
    return {};
  };
  auto written = Flight(queue_for(source.size),
                        {IoQueue::Operation::write, fd, source.size, write_bytes, direct, where},
                        prepare, telling(finish))
                     .run();
  if (!written) return written;
  // The last page was written whole.
  if (::ftruncate(fd, static_cast<off_t>(source.size)) != 0) {
    return fail_errno(errno, "set the length of the file", where.string());
  }
  return {};
}

Status Transfer::read(int fd, std::uint64_t size, const std::filesystem::path& where,
                      const Take& take, std::span<std::byte> into) {
  // What the page cache holds was put there by a writer and proves nothing about the disk. Where
  // it cannot be passed by, it is dropped.
  if (into.empty()) {
    if (auto ok = need_buffers(size, read_bytes); !ok) return ok;
  }
  const bool direct = make_direct(fd);
  if (!direct) ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  const auto prepare = [&](unsigned slot, std::uint64_t at, std::uint32_t) -> Result<std::byte*> {
    if (!into.empty()) return into.data() + at;
    return buffers_.bytes().data() + std::size_t{slot} * read_bytes;
  };
  auto read =
      Flight(queue_for(size), {IoQueue::Operation::read, fd, size, read_bytes, direct, where},
             prepare, telling(take))
          .run();
  make_cached(fd);
  return read;
}

}  // namespace trainward::checkpoint
