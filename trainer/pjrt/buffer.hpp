// An array in a device's memory.
//
// Made by Client::upload and Executable::run; destroyed with this object, on the client's thread.
// Its bytes are dense and row-major on the host, whatever the device makes of them. A buffer that
// was donated to a program no longer holds anything: reading it is an error, destroying it is not.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "trainer/graph/type.hpp"
#include "trainer/pjrt/pjrt_session.hpp"

namespace trainward::pjrt {

class Buffer {
 public:
  explicit Buffer(Handle<abi::Buffer> handle) : handle_(std::move(handle)) {}

  // As the plugin tells; unimplemented for elements this project has no type for.
  [[nodiscard]] Outcome<graph::Type> type() const;

  // Copies all of it and waits until that is done, and so for whatever computes it. `into` is as
  // long as the array. Tenstorrent's plugin moves the array to the host for that, and back again
  // when it is next used.
  Outcome<void> download(std::span<std::byte> into) const;

  // Waits until it is computed. Asks the plugin once, since a plugin may allow only one call.
  Outcome<void> wait() const;

  [[nodiscard]] abi::Buffer* get() const { return handle_.get(); }
  // Whether it is of this client's making.
  [[nodiscard]] bool is_of(const Session& session) const { return &handle_.session() == &session; }

 private:
  Handle<abi::Buffer> handle_;
  mutable std::optional<Outcome<void>> waited_;
};

}  // namespace trainward::pjrt
