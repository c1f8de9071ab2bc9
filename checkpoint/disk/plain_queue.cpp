#include <unistd.h>

#include <cerrno>
#include <deque>

#include "checkpoint/disk/io_queue.hpp"

namespace trainward::checkpoint {
namespace {

class PlainQueue : public IoQueue {
 public:
  void submit(const Request& request) override {
    const auto at = static_cast<off_t>(request.at);
    ssize_t result = 0;
    do {
      result = request.operation == Operation::read
                   ? ::pread(request.fd, request.memory, request.size, at)
                   : ::pwrite(request.fd, request.memory, request.size, at);
    } while (result < 0 && errno == EINTR);
    answers_.push_back({request.tag, result < 0 ? -errno : result});
  }

  Answer wait() override {
    const Answer answer = answers_.front();
    answers_.pop_front();
    return answer;
  }

 private:
  std::deque<Answer> answers_;
};

}  // namespace

std::unique_ptr<IoQueue> make_plain_queue() { return std::make_unique<PlainQueue>(); }

std::unique_ptr<IoQueue> make_io_queue() {
  auto queue = make_uring_queue();
  return queue ? std::move(queue) : make_plain_queue();
}

}  // namespace trainward::checkpoint
