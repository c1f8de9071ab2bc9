#include <liburing.h>

#include <cerrno>
#include <deque>

#include "checkpoint/disk/io_queue.hpp"

namespace trainward::checkpoint {
namespace {

class UringQueue : public IoQueue {
 public:
  UringQueue() : initialised_(::io_uring_queue_init(depth, &ring_, 0) == 0) {}
  UringQueue(const UringQueue&) = delete;
  UringQueue& operator=(const UringQueue&) = delete;
  ~UringQueue() override {
    if (initialised_) ::io_uring_queue_exit(&ring_);
  }

  // Linux 5.1 to 5.5 have rings without these two operations; a filter may let a ring be made and
  // forbid its use.
  bool works() {
    if (!initialised_) return false;
    io_uring_probe* probe = ::io_uring_get_probe_ring(&ring_);
    if (probe == nullptr) return false;
    const bool known = ::io_uring_opcode_supported(probe, IORING_OP_READ) != 0 &&
                       ::io_uring_opcode_supported(probe, IORING_OP_WRITE) != 0;
    ::io_uring_free_probe(probe);
    if (!known) return false;
    ::io_uring_prep_nop(::io_uring_get_sqe(&ring_));
    io_uring_cqe* entry = nullptr;
    if (::io_uring_submit_and_wait(&ring_, 1) < 0 || ::io_uring_peek_cqe(&ring_, &entry) != 0) {
      return false;
    }
    ::io_uring_cqe_seen(&ring_, entry);
    return true;
  }

  void submit(const Request& request) override {
    io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);
    if (entry == nullptr) return refused_.push_back({request.tag, -EBUSY});
    if (request.operation == Operation::read) {
      ::io_uring_prep_read(entry, request.fd, request.memory, request.size, request.at);
    } else {
      ::io_uring_prep_write(entry, request.fd, request.memory, request.size, request.at);
    }
    ::io_uring_sqe_set_data64(entry, request.tag);
    int submitted = 0;
    do {
      submitted = ::io_uring_submit(&ring_);
    } while (submitted == -EINTR || submitted == -EAGAIN);
    if (submitted >= 0) return;
    // Still in the ring, and sent with the next one: by then it must not touch a caller's memory.
    ::io_uring_prep_nop(entry);
    ::io_uring_sqe_set_data64(entry, nobody);
    refused_.push_back({request.tag, submitted});
  }

  Answer wait() override {
    if (!refused_.empty()) {
      const Answer answer = refused_.front();
      refused_.pop_front();
      return answer;
    }
    for (;;) {
      io_uring_cqe* entry = nullptr;
      if (::io_uring_wait_cqe(&ring_, &entry) != 0) continue;  // a signal
      const Answer answer{entry->user_data, entry->res};
      ::io_uring_cqe_seen(&ring_, entry);
      if (answer.tag != nobody) return answer;
    }
  }

 private:
  static constexpr std::uint64_t nobody = UINT64_MAX;
  io_uring ring_{};
  bool initialised_;
  std::deque<Answer> refused_;
};

}  // namespace

std::unique_ptr<IoQueue> make_uring_queue() {
  auto queue = std::make_unique<UringQueue>();
  if (!queue->works()) return nullptr;
  return queue;
}

}  // namespace trainward::checkpoint
