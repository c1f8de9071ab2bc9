#include "checkpoint/disk/transfer.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "checkpoint/disk/room.hpp"

namespace trainward::checkpoint {
namespace {

// Asks the kernel to go past the page cache on this descriptor. Not every file system can.
bool make_direct(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_DIRECT) == 0;
}

bool make_cached(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_DIRECT) != 0 && ::fcntl(fd, F_SETFL, flags & ~O_DIRECT) == 0;
}

}  // namespace

FileSource source_of(std::string_view text) {
  return {text.size(), [text](std::uint64_t at, std::span<std::byte> into) -> Status {
            std::memcpy(into.data(), text.data() + at, into.size());
            return {};
          }};
}

// One file on its way, cut into requests of one size (the last may be shorter) that are numbered in
// the order of the file. Number n uses buffer n modulo depth.
struct Transfer::Flight {
  IoQueue::Operation operation;
  int fd;
  std::uint64_t size;
  bool direct;
  const std::filesystem::path& where;
  // Memory of request `number`, filled when it is to be written.
  std::function<Result<std::byte*>(std::uint64_t number, std::uint32_t bytes)> prepare;
  std::function<Status(std::uint64_t number, std::span<const std::byte> bytes)> finish;

  struct Part {
    std::byte* memory = nullptr;
    std::uint32_t bytes = 0;  // of the file
    std::uint32_t done = 0;
    bool complete = false;
  };
  std::array<Part, IoQueue::depth> parts{};
  unsigned stalls = 0;  // answers in a row that brought nothing

  [[nodiscard]] std::uint64_t begin(std::uint64_t number) const { return number * request_bytes; }
};

namespace {

// A disk that keeps answering with nothing is broken, not slow.
constexpr unsigned max_stalls = 64;

bool is_worth_another_try(std::int64_t result) {
  return result == -EINTR || result == -EAGAIN || result == -EBUSY;
}

}  // namespace

Transfer::Transfer(MakeIoQueue make_queue, Told told)
    : make_queue_(std::move(make_queue)), told_(std::move(told)) {}

// To set up a ring takes longer than to write a small file.
IoQueue& Transfer::queue_for(std::uint64_t size) {
  const bool small = size <= request_bytes && !make_queue_;
  auto& queue = small ? small_ : large_;
  if (!queue) queue = small ? make_plain_queue() : make_queue_ ? make_queue_() : make_io_queue();
  return *queue;
}

// Only as much as the file can use: huge pages for a few hundred bytes would take longer to clear
// than the file to write.
Status Transfer::need_buffers(std::uint64_t file_bytes) {
  const std::uint64_t needed = std::min<std::uint64_t>(
      std::uint64_t{IoQueue::depth} * request_bytes, round_to_pages(file_bytes));
  if (buffers_.bytes().size() >= needed) return {};
  auto memory = AlignedMemory::allocate(needed);
  if (!memory) return propagate(memory);
  buffers_ = std::move(*memory);
  return {};
}

std::byte* Transfer::slot(std::uint64_t number) {
  return buffers_.bytes().data() + number % IoQueue::depth * request_bytes;
}

// Keeps the queue full, and hands over what is complete in the order of the file. After an error
// nothing new is begun, but the memory is the kernel's until every request has been answered.
Status Transfer::run(Flight& flight) {
  using Part = Flight::Part;
  const bool writes = flight.operation == IoQueue::Operation::write;
  const std::uint64_t count = (flight.size + request_bytes - 1) / request_bytes;
  std::uint64_t begun = 0;     // requests handed to the queue
  std::uint64_t finished = 0;  // requests handed over, in order
  unsigned unanswered = 0;
  IoQueue& queue = queue_for(flight.size);
  Status problem;

  const auto submit = [&](std::uint64_t number) {
    const Part& part = flight.parts.at(number % IoQueue::depth);
    // Direct I/O takes whole pages; what is beyond the end of the file is cut off by it or later.
    const auto padded = static_cast<std::uint32_t>(round_to_pages(part.bytes));
    queue.submit({flight.operation, flight.fd, part.memory + part.done, padded - part.done,
                  flight.begin(number) + part.done, number});
    ++unanswered;
  };
  const auto begin = [&](std::uint64_t number) -> Status {
    Part& part = flight.parts.at(number % IoQueue::depth);
    part = {};
    part.bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(request_bytes, flight.size - flight.begin(number)));
    auto memory = flight.prepare(number, part.bytes);
    if (!memory) return propagate(memory);
    part.memory = *memory;
    submit(number);
    return {};
  };
  const auto take_answer = [&](const IoQueue::Answer& answer) -> Status {
    Part& part = flight.parts.at(answer.tag % IoQueue::depth);
    const std::uint64_t at = flight.begin(answer.tag) + part.done;
    if (answer.result == -EINVAL && flight.direct && ++flight.stalls <= max_stalls) {
      // Some file systems accept the flag and refuse the request.
      (void)make_cached(flight.fd);
      submit(answer.tag);
      return {};
    }
    if (answer.result < 0 && !is_worth_another_try(answer.result)) {
      const auto error = static_cast<int>(-answer.result);
      return fail_errno(error, fmt::format("{} at byte {}", writes ? "write" : "read", at),
                        flight.where.string(), writes ? room_hint(error, flight.size) : "");
    }
    const auto moved = static_cast<std::uint64_t>(std::max<std::int64_t>(answer.result, 0));
    if (part.done + moved >= part.bytes) {
      part.complete = true;
      flight.stalls = 0;
      return {};
    }
    // A rest that does not begin on a page would be refused: that page is asked for again.
    const auto usable = static_cast<std::uint32_t>(moved / page_bytes * page_bytes);
    flight.stalls = usable > 0 ? 0 : flight.stalls + 1;
    const bool ended = !writes && answer.result >= 0 && usable == 0;
    if (ended && flight.stalls > 1) {
      return fail(
          ErrorKind::corrupt,
          fmt::format("ends at byte {}, {} bytes short", at + moved, flight.size - at - moved),
          flight.where.string());
    }
    if (flight.stalls > max_stalls) {
      return fail(
          ErrorKind::transient,
          fmt::format("the disk does not {} anything at byte {}", writes ? "take" : "give", at),
          flight.where.string(), "look at the kernel log");
    }
    part.done += usable;
    submit(answer.tag);
    return {};
  };

  while (problem ? finished < count : unanswered > 0) {
    while (problem && begun < count && begun - finished < IoQueue::depth) {
      problem = begin(begun);
      if (problem) ++begun;
    }
    if (unanswered == 0) continue;
    const IoQueue::Answer answer = queue.wait();
    --unanswered;
    if (!problem) continue;
    problem = take_answer(answer);
    while (problem && finished < begun && flight.parts.at(finished % IoQueue::depth).complete) {
      const Part& part = flight.parts.at(finished % IoQueue::depth);
      problem = flight.finish(finished, {part.memory, part.bytes});
      if (problem && told_) problem = told_(part.bytes);
      ++finished;
    }
  }
  return problem;
}

Status Transfer::write(int fd, const FileSource& source, const std::filesystem::path& where,
                       const Take& take) {
  if (source.memory == nullptr) {
    if (auto ok = need_buffers(source.size); !ok) return ok;
  }
  const bool direct = source.size >= request_bytes && make_direct(fd);
  Flight flight{IoQueue::Operation::write, fd, source.size, direct, where, {}, {}};
  flight.prepare = [&](std::uint64_t number, std::uint32_t bytes) -> Result<std::byte*> {
    const std::uint64_t at = flight.begin(number);
    if (source.memory != nullptr) {
      if (auto ok = take(at, {source.memory + at, bytes}); !ok) return propagate(ok);
      // The queue only reads what it writes to the disk.
      return const_cast<std::byte*>(source.memory) + at;
    }
    std::byte* memory = slot(number);
    if (auto ok = source.read(at, {memory, bytes}); !ok) return propagate(ok);
    std::fill(memory + bytes, memory + round_to_pages(bytes), std::byte{0});
    if (auto ok = take(at, {memory, bytes}); !ok) return propagate(ok);
    return memory;
  };
  flight.finish = [&](std::uint64_t number, std::span<const std::byte> bytes) -> Status {
    // Only a hint to start early; fsync reports what goes wrong.
    if (!direct) {
      ::sync_file_range(fd, static_cast<off_t>(flight.begin(number)),
                        static_cast<off_t>(bytes.size()), SYNC_FILE_RANGE_WRITE);
    }
    return {};
  };
  auto written = run(flight);
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
    if (auto ok = need_buffers(size); !ok) return ok;
  }
  const bool direct = make_direct(fd);
  if (!direct) ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  Flight flight{IoQueue::Operation::read, fd, size, direct, where, {}, {}};
  flight.prepare = [&](std::uint64_t number, std::uint32_t) -> Result<std::byte*> {
    if (!into.empty()) return into.data() + flight.begin(number);
    return slot(number);
  };
  flight.finish = [&](std::uint64_t number, std::span<const std::byte> bytes) {
    return take(flight.begin(number), bytes);
  };
  auto read = run(flight);
  (void)make_cached(fd);
  return read;
}

}  // namespace trainward::checkpoint
