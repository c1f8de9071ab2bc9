// The system calls that KmdRegisters makes, apart so that tests can be a driver.
//
// ioctl and map take the descriptor that open gave. Errors of open, map and config32 are those of
// read_error.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::hwprobe {

// Words of the board, mapped for as long as this lives.
using RegisterWindow = std::shared_ptr<const volatile std::uint32_t>;

class KmdCalls {
 public:
  KmdCalls() = default;
  KmdCalls(const KmdCalls&) = delete;
  KmdCalls& operator=(const KmdCalls&) = delete;
  virtual ~KmdCalls() = default;

  virtual Result<Fd> open(const std::filesystem::path& node, int flags) = 0;
  // 0, or the error number.
  virtual int ioctl(int fd, unsigned long request, void* argument) = 0;
  // For reading only, so that no bug of ours can write to a board.
  virtual Result<RegisterWindow> map(int fd, std::uint64_t offset, std::size_t bytes) = 0;
  // Four bytes of a device's `config` file in sysfs: from the device, not from the kernel's memory.
  virtual Result<std::uint32_t> config32(const std::filesystem::path& file,
                                         std::uint32_t offset) = 0;
  virtual void wait(std::chrono::milliseconds time) = 0;
};

class SystemKmdCalls : public KmdCalls {
 public:
  Result<Fd> open(const std::filesystem::path& node, int flags) override;
  int ioctl(int fd, unsigned long request, void* argument) override;
  Result<RegisterWindow> map(int fd, std::uint64_t offset, std::size_t bytes) override;
  Result<std::uint32_t> config32(const std::filesystem::path& file, std::uint32_t offset) override;
  void wait(std::chrono::milliseconds time) override;
};

}  // namespace trainward::hwprobe
