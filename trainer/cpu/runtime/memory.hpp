// One block of zeroed memory, aligned for vector loads and large pages. Move-only owner.
#pragma once

#include <cstddef>
#include <memory>

#include "common/base/error.hpp"

namespace trainward::cpu {

inline constexpr std::size_t alignment = 64;  // bytes; a cache line and a full vector

// As many bytes, up to where the next aligned buffer may begin.
constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

class Memory {
 public:
  Memory() = default;
  // Kind transient when the system has no memory left.
  static Result<Memory> allocate(std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace trainward::cpu
