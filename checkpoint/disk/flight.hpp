// One file on its way between memory and the disk, cut into requests of one size (the last may be
// shorter), several of them in flight.
//
// What is written may arrive in any order, and a request that has frees its place at once; what is
// read is handed over in the order of the file. Short answers are asked again for their rest. After
// an error nothing new is begun, but run() returns only when every request has been answered: until
// then the memory is the kernel's.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "checkpoint/disk/io_queue.hpp"
#include "common/base/error.hpp"

namespace trainward::checkpoint {

class Flight {
 public:
  struct File {
    IoQueue::Operation operation;
    int fd;
    std::uint64_t size;
    std::uint32_t request_bytes;  // whole pages
    bool direct;                  // O_DIRECT is set; taken back when requests are refused for it
    const std::filesystem::path& where;
  };
  // Memory, in whole pages, for the `bytes` of the file that begin at `at`; filled when they are to
  // be written. `slot` (below IoQueue::depth) is not used by another request now. In file order.
  using Prepare =
      std::function<Result<std::byte*>(unsigned slot, std::uint64_t at, std::uint32_t bytes)>;
  using Finish = std::function<Status(std::uint64_t at, std::span<const std::byte> bytes)>;

  Flight(IoQueue& queue, const File& file, Prepare prepare, Finish finish)
      : queue_(queue), file_(file), prepare_(std::move(prepare)), finish_(std::move(finish)) {}

  Status run();

 private:
  enum class Stage { free, flying, arrived };
  struct Part {
    Stage stage = Stage::free;
    std::uint64_t at = 0;     // in the file
    std::uint32_t bytes = 0;  // of the file
    std::uint32_t done = 0;
    std::byte* memory = nullptr;
  };

  [[nodiscard]] bool writes() const { return file_.operation == IoQueue::Operation::write; }
  Status begin_what_fits();
  void submit(unsigned slot);
  Status take(const IoQueue::Answer& answer);
  Status finish_what_arrived();
  Part* next_to_finish();

  IoQueue& queue_;
  File file_;
  Prepare prepare_;
  Finish finish_;
  std::array<Part, IoQueue::depth> parts_{};
  std::uint64_t begun_ = 0;     // up to here the file has been handed to the queue
  std::uint64_t finished_ = 0;  // read: up to here it has been handed over
  unsigned unanswered_ = 0;
  unsigned stalls_ = 0;  // answers in a row that brought nothing
};

}  // namespace trainward::checkpoint
