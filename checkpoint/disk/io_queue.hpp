// Reads and writes in flight: handed to the kernel together, answered one by one in any order.
//
// In: requests whose memory stays the caller's and must live until they are answered. Out: bytes
// done, which may be fewer than asked for, or a negative errno. A port: io_uring where the kernel
// and the container allow it, plain system calls elsewhere, and faults in tests. One thread each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace trainward::checkpoint {

class IoQueue {
 public:
  static constexpr unsigned depth = 16;  // requests in flight at most

  enum class Operation { read, write };
  struct Request {
    Operation operation = Operation::read;
    int fd = -1;
    std::byte* memory = nullptr;  // only read from for a write
    std::uint32_t size = 0;
    std::uint64_t at = 0;   // in bytes from the start of the file
    std::uint64_t tag = 0;  // comes back with the answer
  };
  struct Answer {
    std::uint64_t tag = 0;
    std::int64_t result = 0;
  };

  IoQueue() = default;
  IoQueue(const IoQueue&) = delete;
  IoQueue& operator=(const IoQueue&) = delete;
  virtual ~IoQueue() = default;

  virtual void submit(const Request& request) = 0;
  // Waits for one of the requests that were submitted and not answered yet; there must be one.
  virtual Answer wait() = 0;
};

using MakeIoQueue = std::function<std::unique_ptr<IoQueue>()>;

// io_uring; empty when the kernel refuses it (an old one, a container, no memory to lock).
std::unique_ptr<IoQueue> make_uring_queue();
// System calls that are done when submit() returns.
std::unique_ptr<IoQueue> make_plain_queue();
// The best there is here.
std::unique_ptr<IoQueue> make_io_queue();

}  // namespace trainward::checkpoint
