// Bytes in pieces of any size, out as lines: the part of a line a piece ends with is kept until the
// rest comes. A carriage return ends a line too (progress bars), but only '\n' counts as one.
// Memory: one line, at most `max_line_bytes`; what a longer line has beyond that is dropped.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace trainward {

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line_bytes) : max_line_bytes_(max_line_bytes) {}

  // Calls visit(line, number) for every line that is complete; empty lines are not told.
  template <typename Visit>
  void feed(std::string_view bytes, const Visit& visit) {
    while (!bytes.empty()) {
      const auto end = position(bytes, '\n');
      feed_segments(bytes.substr(0, end), end < bytes.size(), visit);
      if (end < bytes.size()) ++number_;
      bytes.remove_prefix(end < bytes.size() ? end + 1 : end);
    }
  }

  // A last line without an end.
  template <typename Visit>
  void finish(const Visit& visit) {
    emit({}, visit);
  }

  // Of the line that is being read, from 1.
  [[nodiscard]] std::int64_t number() const { return number_; }

 private:
  static std::size_t position(std::string_view text, char c) {
    const void* at = text.empty() ? nullptr : std::memchr(text.data(), c, text.size());
    return at == nullptr ? text.size()
                         : static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
  }

  template <typename Visit>
  void feed_segments(std::string_view text, bool complete, const Visit& visit) {
    for (auto end = position(text, '\r'); end < text.size(); end = position(text, '\r')) {
      emit(text.substr(0, end), visit);
      text.remove_prefix(end + 1);
    }
    if (complete) return emit(text, visit);
    keep(text);
  }

  void keep(std::string_view text) {
    pending_.append(text.substr(0, max_line_bytes_ - pending_.size()));
  }

  template <typename Visit>
  void emit(std::string_view text, const Visit& visit) {
    if (!pending_.empty()) {
      keep(text);
      visit(std::string_view(pending_), number_);
      pending_.clear();
    } else if (!text.empty()) {
      visit(text.substr(0, max_line_bytes_), number_);
    }
  }

  std::size_t max_line_bytes_;
  std::string pending_;
  std::int64_t number_ = 1;
};

}  // namespace trainward
