#include "supervisor/window/api/access/logins.hpp"

#include <algorithm>
#include <utility>

#include "supervisor/window/api/access/secret.hpp"

namespace trainward::api {

Result<std::string> Logins::begin(Requester by, const std::string& from, std::optional<Key> key,
                                  std::int64_t now_ms) {
  auto id = new_secret();
  if (!id) return propagate(id);
  std::erase_if(entries_, [now_ms](const Entry& entry) { return entry.until_ms <= now_ms; });
  if (entries_.size() >= most) {
    entries_.erase(std::min_element(
        entries_.begin(), entries_.end(),
        [](const Entry& one, const Entry& other) { return one.used_ms < other.used_ms; }));
  }
  entries_.push_back(
      {digest_of(*id), now_ms + lifetime_ms, now_ms, std::move(by), from, std::move(key)});
  return id;
}

std::vector<Logins::Entry>::iterator Logins::find_entry(std::string_view id,
                                                        const std::string& from) {
  const std::string digest = digest_of(id);
  return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return same_digest(entry.digest, digest) && (entry.from.empty() || entry.from == from);
  });
}

std::optional<Requester> Logins::find(std::string_view id, const std::string& from,
                                      std::int64_t now_ms) {
  const auto found = find_entry(id, from);
  if (found == entries_.end()) return std::nullopt;
  if (found->until_ms <= now_ms) {
    entries_.erase(found);
    return std::nullopt;
  }
  found->used_ms = now_ms;
  return found->by;
}

bool Logins::has(std::string_view id, std::int64_t now_ms) const {
  const std::string digest = digest_of(id);
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.until_ms > now_ms && same_digest(entry.digest, digest);
  });
}

void Logins::end(std::string_view id, const std::string& from) {
  if (const auto found = find_entry(id, from); found != entries_.end()) entries_.erase(found);
}

void Logins::keep(const Keys& keys) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.key && !keys.has(*entry.key); });
}

}  // namespace trainward::api
