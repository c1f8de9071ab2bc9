// Memory of the host that devices reach by themselves while this lives: uploads from it and
// downloads into it need no copy on the way. The client's thread only; goes before the memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "trainer/pjrt/session.hpp"

namespace trainward::pjrt {

class MappedMemory {
 public:
  // Every page of it is touched. No two mapped pieces may share a page. `unimplemented` where the
  // plugin has no such thing.
  static Outcome<MappedMemory> map(const std::shared_ptr<Session>& session,
                                   std::span<std::byte> memory);

  MappedMemory(MappedMemory&& other) noexcept
      : session_(std::move(other.session_)), data_(std::exchange(other.data_, nullptr)) {}
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(session_, other.session_);
    std::swap(data_, other.data_);
    return *this;
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  ~MappedMemory();

 private:
  MappedMemory(std::shared_ptr<Session> session, std::byte* data)
      : session_(std::move(session)), data_(data) {}

  std::shared_ptr<Session> session_;
  std::byte* data_ = nullptr;
};

}  // namespace trainward::pjrt
