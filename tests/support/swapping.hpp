// Somebody who turns a name into a link and back, as fast as the kernel lets them.
#pragma once

#include <fcntl.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

namespace trainward {

// Exchanges what two names mean (RENAME_EXCHANGE) on a thread of its own, as long as it lives.
class Swapping {
 public:
  Swapping(std::filesystem::path one, std::filesystem::path other)
      : one_(std::move(one)), other_(std::move(other)), thread_([this](const std::stop_token& end) {
          while (!end.stop_requested()) {
            if (::renameat2(AT_FDCWD, one_.c_str(), AT_FDCWD, other_.c_str(), RENAME_EXCHANGE) ==
                0) {
              ++swaps_;
            }
          }
        }) {}

  [[nodiscard]] std::int64_t swaps() const { return swaps_; }

 private:
  std::filesystem::path one_;
  std::filesystem::path other_;
  std::atomic<std::int64_t> swaps_ = 0;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace trainward
