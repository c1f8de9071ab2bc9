#include "hwprobe/tenstorrent/registers/kmd_calls.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "hwprobe/tenstorrent/registers/read_error.hpp"

namespace trainward::hwprobe {

Result<Fd> SystemKmdCalls::open(const std::filesystem::path& node, int flags) {
  Fd fd(::open(node.c_str(), flags));
  if (!fd) return fail_read(errno, node.string());
  return fd;
}

int SystemKmdCalls::ioctl(int fd, unsigned long request, void* argument) {
  return ::ioctl(fd, request, argument) < 0 ? errno : 0;
}

Result<RegisterWindow> SystemKmdCalls::map(int fd, std::uint64_t offset, std::size_t bytes) {
  void* address = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, static_cast<::off_t>(offset));
  if (address == MAP_FAILED) return fail_read(errno, "mmap");
  return RegisterWindow(
      static_cast<const volatile std::uint32_t*>(address),
      [address, bytes](const volatile std::uint32_t* /*words*/) { ::munmap(address, bytes); });
}

Result<std::uint32_t> SystemKmdCalls::config32(const std::filesystem::path& file,
                                               std::uint32_t offset) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return fail_read(errno, file.string());
  std::array<unsigned char, 4> bytes{};
  const auto got = ::pread(fd.get(), bytes.data(), bytes.size(), offset);
  if (got < 0) return fail_read(errno, file.string());
  // Only the first 64 bytes are shown to those who may not administer the host.
  if (static_cast<std::size_t>(got) < bytes.size()) return fail_read(ENODATA, file.string());
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

void SystemKmdCalls::wait(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

}  // namespace trainward::hwprobe
