#include "supervisor/window/api/access/tries.hpp"

#include <algorithm>

namespace trainward::api {

std::int64_t Tries::wait_ms(const std::string& from, std::int64_t now_ms) const {
  const auto found = entries_.find(from);
  if (found == entries_.end()) return 0;
  return std::max<std::int64_t>(found->second.until_ms - now_ms, 0);
}

void Tries::wrong(const std::string& from, std::int64_t now_ms) {
  std::erase_if(entries_, [now_ms](const auto& entry) {
    return now_ms - entry.second.last_ms >= forgotten_after_ms;
  });
  if (entries_.size() >= most && !entries_.contains(from)) {
    entries_.erase(
        std::min_element(entries_.begin(), entries_.end(), [](const auto& one, const auto& other) {
          return one.second.last_ms < other.second.last_ms;
        }));
  }
  Entry& entry = entries_[from];
  ++entry.wrong;
  entry.last_ms = now_ms;
  if (entry.wrong <= free) return;
  const int doubled = std::min(entry.wrong - free - 1, 16);
  entry.until_ms = now_ms + std::min(first_wait_ms << doubled, longest_wait_ms);
}

void Tries::right(const std::string& from) { entries_.erase(from); }

}  // namespace trainward::api
