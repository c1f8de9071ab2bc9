#include "supervisor/ctl/client/frames.hpp"

namespace trainward::ctl::remote {
namespace {

constexpr std::size_t head_bytes = 9;

void add_number(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

}  // namespace

void add_frame(std::string& out, FrameKind kind, std::uint32_t channel, std::string_view payload) {
  out += static_cast<char>(kind);
  add_number(out, channel);
  add_number(out, static_cast<std::uint32_t>(payload.size()));
  out += payload;
}

Result<std::optional<Frame>> FrameReader::next() {
  if (bytes_.size() < head_bytes) return std::nullopt;
  const char kind = bytes_[0];
  const std::size_t length = number_at(bytes_, 5);
  if (std::string_view("odex").find(kind) == std::string_view::npos || length > longest_payload) {
    return fail(ErrorKind::corrupt, "what came through ssh is not trainwardctl's", "",
                "is something on that machine printing to the connection?");
  }
  if (bytes_.size() < head_bytes + length) return std::nullopt;
  Frame frame{static_cast<FrameKind>(kind), number_at(bytes_, 1),
              bytes_.substr(head_bytes, length)};
  bytes_.erase(0, head_bytes + length);
  return frame;
}

}  // namespace trainward::ctl::remote
