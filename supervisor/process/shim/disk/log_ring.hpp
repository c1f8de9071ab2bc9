// Memory between the thread that empties a pipe and the thread that writes to the disk.
//
// A ring of 1 MiB of address space: the kernel gives a page when it is first used, and an emptied
// ring begins again at its first page, so a worker that prints little costs little. One producer,
// one consumer; every call is made under the owner's lock, only the bytes themselves are moved
// outside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::shim {

struct HalfLine {
  std::size_t bytes = 0;           // taken back
  bool ends_with_newline = false;  // what is left does
};

class LogRing {
 public:
  static constexpr std::size_t capacity = 1024 * 1024;

  static Result<LogRing> make();
  LogRing(LogRing&& other) noexcept;
  LogRing& operator=(LogRing&&) = delete;
  LogRing(const LogRing&) = delete;
  LogRing& operator=(const LogRing&) = delete;
  ~LogRing();

  // Producer: where bytes may be put (contiguous, so perhaps not all that is free), and how many
  // were.
  std::span<char> space();
  void commit(std::size_t bytes);
  // Takes back what follows the last newline, as far as the consumer has not begun on it.
  HalfLine take_back_half_line();
  // Gives the pages back when a flood is over.
  void shrink();

  // Consumer: the oldest bytes (contiguous), and how many of them are done with.
  std::string_view claim();
  void release(std::size_t bytes);

  [[nodiscard]] std::size_t used() const { return static_cast<std::size_t>(head_ - tail_); }
  [[nodiscard]] std::uint64_t consumed() const { return consumed_; }

 private:
  explicit LogRing(char* memory) : memory_(memory) {}
  char* memory_ = nullptr;
  std::uint64_t head_ = 0;     // bytes ever put since the last fresh start
  std::uint64_t tail_ = 0;     // bytes done with
  std::uint64_t claimed_ = 0;  // bytes the consumer has begun on
  std::uint64_t consumed_ = 0;
  std::size_t touched_ = 0;  // highest page used
};

}  // namespace trainward::shim
