// What event files need of protobuf's encoding: fields written one after the other, and read back.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainward::tracking {

// Little-endian.
void append_fixed(std::string& out, std::uint64_t value, std::size_t bytes);
std::uint64_t read_fixed(std::string_view bytes);  // at most 8

// A message under way. Fields are those of the message's definition, from 1 on.
class Message {
 public:
  Message& whole(unsigned field, std::int64_t value);
  Message& number(unsigned field, double value);
  Message& small_number(unsigned field, float value);
  // A text, bytes or another message.
  Message& bytes(unsigned field, std::string_view value);
  Message& message(unsigned field, const Message& inner) { return bytes(field, inner.text()); }

  [[nodiscard]] const std::string& text() const { return text_; }
  void clear() { text_.clear(); }

 private:
  void key(unsigned field, unsigned type);
  std::string text_;
};

// A field as it was read.
struct Field {
  unsigned number = 0;
  std::uint64_t value = 0;  // of a varint or a fixed one, as its bits
  std::string_view bytes;   // of one with a length
};

// Takes the first field off the front; nothing at the end, and where `message` is not valid.
std::optional<Field> take_field(std::string_view& message);

}  // namespace trainward::tracking
