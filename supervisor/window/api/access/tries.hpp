// How often somebody may say a wrong token or code; who says a right one is let in at any time, so
// that nobody can lock another out.
//
// Five wrong ones are free; after each further one the next is told to wait for 1 s, then 2 s, and
// so on up to a minute. A right one, or ten quiet minutes, and all is forgotten. Counted by names
// of whence.hpp; at most 1,024 are remembered: then the one that was wrong least lately is
// forgotten. Times as in links.hpp. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace trainward::api {

class Tries {
 public:
  static constexpr int free = 5;
  static constexpr std::int64_t first_wait_ms = 1'000;
  static constexpr std::int64_t longest_wait_ms = 60'000;
  static constexpr std::int64_t forgotten_after_ms = 600'000;
  static constexpr std::size_t most = 1024;

  // For how long a wrong one is told to wait; 0: it may try.
  [[nodiscard]] std::int64_t wait_ms(const std::string& from, std::int64_t now_ms) const;
  void wrong(const std::string& from, std::int64_t now_ms);
  void right(const std::string& from);
  [[nodiscard]] std::size_t count() const { return entries_.size(); }

 private:
  struct Entry {
    int wrong = 0;
    std::int64_t last_ms = 0;
    std::int64_t until_ms = 0;
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace trainward::api
