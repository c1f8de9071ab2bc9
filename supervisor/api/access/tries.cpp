#include "supervisor/api/access/tries.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>

namespace trainward::api {
namespace {

// What one person has, however many addresses that are.
std::string neighbourhood(const std::string& address) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  // One of IPv4 that came in over a socket of both.
  constexpr std::array<unsigned char, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(mapped.begin(), mapped.end(), bytes.begin())) return address;
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  std::array<char, INET6_ADDRSTRLEN> out{};
  if (::inet_ntop(AF_INET6, bytes.data(), out.data(), out.size()) == nullptr) return address;
  return out.data();
}

}  // namespace

std::int64_t Tries::wait_ms(const std::string& address, std::int64_t now_ms) const {
  const auto found = entries_.find(neighbourhood(address));
  if (found == entries_.end()) return 0;
  return std::max<std::int64_t>(found->second.until_ms - now_ms, 0);
}

void Tries::wrong(const std::string& address, std::int64_t now_ms) {
  std::erase_if(entries_, [now_ms](const auto& entry) {
    return now_ms - entry.second.last_ms >= forgotten_after_ms;
  });
  const std::string place = neighbourhood(address);
  if (entries_.size() >= most && !entries_.contains(place)) {
    entries_.erase(
        std::min_element(entries_.begin(), entries_.end(), [](const auto& one, const auto& other) {
          return one.second.last_ms < other.second.last_ms;
        }));
  }
  Entry& entry = entries_[place];
  ++entry.wrong;
  entry.last_ms = now_ms;
  if (entry.wrong <= free) return;
  const int doubled = std::min(entry.wrong - free - 1, 16);
  entry.until_ms = now_ms + std::min(first_wait_ms << doubled, longest_wait_ms);
}

void Tries::right(const std::string& address) { entries_.erase(neighbourhood(address)); }

}  // namespace trainward::api
