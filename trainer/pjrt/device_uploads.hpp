// Many arrays on their way to a device's memory together, so that the next is copied while the last
// is still under way.
//
// The plugin reads the caller's memory until wait() has returned or this object is gone, which
// waits too. Only XLA's plugins are asked for that: Tenstorrent's would read the memory for as long
// as the buffer lives, so there every add() is a copy. What is under way is bounded: a plugin may
// copy all of it into memory that the device can reach. The client's thread only.
#pragma once

#include <cstdint>
#include <deque>

#include "trainer/pjrt/pjrt_client.hpp"

namespace trainward::pjrt {

class Uploads {
 public:
  explicit Uploads(Client& client, std::uint64_t most_bytes = std::uint64_t{512} << 20)
      : client_(client), most_bytes_(most_bytes) {}
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;
  ~Uploads();

  // As Client::upload. An error may be that of an array before it.
  Outcome<Buffer> add(std::size_t device, const graph::Type& type, const void* data);
  Outcome<void> wait();

 private:
  struct UnderWay {
    abi::Event* done = nullptr;
    std::uint64_t bytes = 0;
  };
  Outcome<void> wait_for_oldest();

  Client& client_;
  std::uint64_t most_bytes_;
  std::deque<UnderWay> under_way_;
  std::uint64_t bytes_ = 0;
};

}  // namespace trainward::pjrt
