// Writing JSON without a JSON library: one object, member by member, into a string.
//
// For the shim, whose memory is counted in pages and which only ever writes. Values are escaped;
// bytes that are not UTF-8 (a worker may send anything) become U+FFFD, so that what is written can
// always be read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainward {

// Appends `text` as a JSON string, with its quotes.
void append_json_string(std::string& out, std::string_view text);

class JsonText {
 public:
  JsonText& add(std::string_view key, std::string_view value);
  JsonText& add(std::string_view key, const char* value) {
    return add(key, std::string_view(value));
  }
  JsonText& add(std::string_view key, std::int64_t value);
  JsonText& add(std::string_view key, int value) { return add(key, std::int64_t{value}); }
  JsonText& add(std::string_view key, bool value);
  // A member whose value is JSON already: an object or a list.
  JsonText& add_json(std::string_view key, std::string_view json);

  // All of another.
  JsonText& add_members(const JsonText& other);

  // The members, without the braces around them.
  [[nodiscard]] const std::string& members() const { return members_; }
  [[nodiscard]] std::string object() const { return "{" + members_ + "}"; }

 private:
  void key(std::string_view key);
  std::string members_;
};

}  // namespace trainward
