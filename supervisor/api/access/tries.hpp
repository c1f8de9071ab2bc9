// How often an address may say a wrong token or code.
//
// Five wrong ones are free; after each further one nothing that the address says is looked at for 1
// s, then 2 s, and so on up to a minute. A right one, or ten quiet minutes, and all is forgotten.
// Addresses of IPv6 count by their /64, which is what one person has. At most 1,024 are remembered:
// then the one that was wrong least lately is forgotten. Times as in links.hpp. Pure.
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

  // For how long nothing it says is looked at; 0: it may try.
  [[nodiscard]] std::int64_t wait_ms(const std::string& address, std::int64_t now_ms) const;
  void wrong(const std::string& address, std::int64_t now_ms);
  void right(const std::string& address);
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
