#include "supervisor/courier/tracking/tensorboard/tensorboard_wire.hpp"

#include <bit>

namespace trainward::tracking {
namespace {

// protobuf's wire types
constexpr unsigned varint = 0;
constexpr unsigned fixed64 = 1;
constexpr unsigned with_length = 2;
constexpr unsigned fixed32 = 5;

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7fU) | 0x80U);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

std::optional<std::uint64_t> take_varint(std::string_view& text) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> take(std::string_view& text, std::uint64_t size) {
  if (size > text.size()) return std::nullopt;
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(size);
  return taken;
}

}  // namespace

void append_fixed(std::string& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    out += static_cast<char>(value & 0xffU);
    value >>= 8U;
  }
}

std::uint64_t read_fixed(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = (value << 8U) | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

void Message::key(unsigned field, unsigned type) { append_varint(text_, field << 3U | type); }

Message& Message::whole(unsigned field, std::int64_t value) {
  key(field, varint);
  append_varint(text_, static_cast<std::uint64_t>(value));
  return *this;
}

Message& Message::number(unsigned field, double value) {
  key(field, fixed64);
  append_fixed(text_, std::bit_cast<std::uint64_t>(value), sizeof value);
  return *this;
}

Message& Message::small_number(unsigned field, float value) {
  key(field, fixed32);
  append_fixed(text_, std::bit_cast<std::uint32_t>(value), sizeof value);
  return *this;
}

Message& Message::bytes(unsigned field, std::string_view value) {
  key(field, with_length);
  append_varint(text_, value.size());
  text_ += value;
  return *this;
}

std::optional<Field> take_field(std::string_view& message) {
  const auto key = take_varint(message);
  if (!key) return std::nullopt;
  Field field;
  field.number = static_cast<unsigned>(*key >> 3U);
  const auto type = static_cast<unsigned>(*key & 7U);
  if (type == varint) {
    const auto value = take_varint(message);
    if (!value) return std::nullopt;
    field.value = *value;
    return field;
  }
  std::uint64_t size = type == fixed64 ? 8 : 4;
  if (type == with_length) {
    const auto length = take_varint(message);
    if (!length) return std::nullopt;
    size = *length;
  } else if (type != fixed64 && type != fixed32) {
    return std::nullopt;
  }
  const auto bytes = take(message, size);
  if (!bytes) return std::nullopt;
  if (type == with_length) {
    field.bytes = *bytes;
  } else {
    field.value = read_fixed(*bytes);
  }
  return field;
}

}  // namespace trainward::tracking
