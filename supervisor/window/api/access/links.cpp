#include "supervisor/window/api/access/links.hpp"

#include <algorithm>
#include <utility>

#include "supervisor/window/api/access/secret.hpp"

namespace trainward::api {

void Links::forget_old(std::int64_t now_ms) {
  std::erase_if(entries_, [now_ms](const Entry& entry) { return entry.until_ms <= now_ms; });
}

Result<std::string> Links::make(Link link, std::int64_t now_ms) {
  forget_old(now_ms);
  if (entries_.size() >= most) {
    return fail(ErrorKind::transient, "there are 16 links that nobody has opened yet", "",
                "each is gone after a minute; ask again then");
  }
  auto code = new_secret();
  if (!code) return propagate(code);
  entries_.push_back({digest_of(*code), now_ms + lifetime_ms, std::move(link)});
  return code;
}

std::optional<Links::Link> Links::take(std::string_view code, std::int64_t now_ms) {
  forget_old(now_ms);
  const std::string digest = digest_of(code);
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return same_digest(entry.digest, digest);
  });
  if (found == entries_.end()) return std::nullopt;
  Link link = std::move(found->link);
  entries_.erase(found);
  return link;
}

}  // namespace trainward::api
