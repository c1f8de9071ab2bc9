#include "common/os/mapping.hpp"

#include <sys/mman.h>

#include <cerrno>

namespace trainward {
namespace {

void unmap(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  // munmap takes a pointer to non-const, though it does not write through it.
  ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    unmap(bytes_);
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

Mapping::~Mapping() { unmap(bytes_); }

Result<Mapping> Mapping::open(int fd, std::uint64_t size, const std::string& where) {
  if (size == 0) return Mapping();
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return fail_errno(errno, "map the file into memory", where);
  return Mapping({static_cast<const std::byte*>(address), size});
}

}  // namespace trainward
