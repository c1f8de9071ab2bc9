// What goes through an ssh connection: many connections to one socket, in frames. Pure.
//
// First a line each way (hello.hpp), then frames: kind (1 byte), channel and length (4 bytes each,
// the highest first), payload. The side that asks opens channels, each of a number that was never
// used before; either side ends one, for both directions at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::ctl::remote {

enum class FrameKind : char {
  open = 'o',     // a connection to the socket, please
  data = 'd',     // bytes of it
  end = 'e',      // it is closed, or is to be
  refused = 'x',  // it could not be had: payload is errno in decimal digits
};

struct Frame {
  FrameKind kind = FrameKind::data;
  std::uint32_t channel = 0;
  std::string payload;
};

inline constexpr std::size_t longest_payload = 64 << 10;

void add_frame(std::string& out, FrameKind kind, std::uint32_t channel,
               std::string_view payload = {});

// Frames out of bytes as they come.
class FrameReader {
 public:
  void add(std::string_view bytes) { bytes_ += bytes; }
  // Nothing while the next one is incomplete. Kind corrupt: these bytes are no frames of ours.
  Result<std::optional<Frame>> next();

 private:
  std::string bytes_;
};

}  // namespace trainward::ctl::remote
