#include "supervisor/courier/tracking/tensorboard/tensorboard_record.hpp"

#include <cstdint>

#include "supervisor/courier/tracking/tensorboard/crc32c.hpp"
#include "supervisor/courier/tracking/tensorboard/tensorboard_wire.hpp"

namespace trainward::tracking {
namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::size_t crc_bytes = 4;
constexpr std::size_t header_bytes = length_bytes + crc_bytes;

bool sound(std::string_view bytes, std::string_view crc) {
  return masked(crc32c(bytes)) == static_cast<std::uint32_t>(read_fixed(crc));
}

}  // namespace

void append_record(std::string& out, std::string_view data) {
  const std::size_t begin = out.size();
  append_fixed(out, data.size(), length_bytes);
  append_fixed(out, masked(crc32c(std::string_view(out).substr(begin))), crc_bytes);
  out += data;
  append_fixed(out, masked(crc32c(data)), crc_bytes);
}

std::optional<Record> first_record(std::string_view bytes) {
  if (bytes.size() < header_bytes + crc_bytes) return std::nullopt;
  const std::string_view length = bytes.substr(0, length_bytes);
  if (!sound(length, bytes.substr(length_bytes, crc_bytes))) return std::nullopt;
  const std::uint64_t size = read_fixed(length);
  if (size > bytes.size() - header_bytes - crc_bytes) return std::nullopt;
  const std::string_view data = bytes.substr(header_bytes, size);
  if (!sound(data, bytes.substr(header_bytes + size, crc_bytes))) return std::nullopt;
  return Record{data, header_bytes + data.size() + crc_bytes};
}

}  // namespace trainward::tracking
