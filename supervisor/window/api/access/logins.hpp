// Who is logged in: browsers, each known by the random id in its cookie.
//
// Kept as digests in the memory of this daemon only, so that a restart ends them all; 12 hours
// each, at most 64: then the one that was used least lately ends. A login counts only from where it
// was begun (whence.hpp): a browser sends its cookie to every port of a name, so other servers
// there get to know it. Times as in links.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/window/api/access/access_keys.hpp"
#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

class Logins {
 public:
  static constexpr std::int64_t lifetime_ms = 12 * std::int64_t{3'600'000};
  static constexpr std::size_t most = 64;

  // The id of a new one. `from`: where it is good; empty: anywhere. `key` is the token it was begun
  // with; none: a one-time link.
  Result<std::string> begin(Requester by, const std::string& from, std::optional<Key> key,
                            std::int64_t now_ms);
  // Nothing when there is no such login, or not from there.
  std::optional<Requester> find(std::string_view id, const std::string& from, std::int64_t now_ms);
  // Whether there is; does not count as its use.
  [[nodiscard]] bool has(std::string_view id, std::int64_t now_ms) const;
  void end(std::string_view id, const std::string& from);
  // Ends those whose token is no longer among these.
  void keep(const Keys& keys);
  [[nodiscard]] std::size_t count() const { return entries_.size(); }

 private:
  struct Entry {
    std::string digest;
    std::int64_t until_ms = 0;
    std::int64_t used_ms = 0;
    Requester by;
    std::string from;
    std::optional<Key> key;
  };
  std::vector<Entry>::iterator find_entry(std::string_view id, const std::string& from);
  std::vector<Entry> entries_;
};

}  // namespace trainward::api
