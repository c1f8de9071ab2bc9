// One-time links: each lets one person in once, and for 60 seconds.
//
// Kept as digests, in memory: a new daemon knows none of them. Times are of a clock that never goes
// back, in milliseconds, and given by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/window/api/http/http.hpp"

namespace trainward::api {

class Links {
 public:
  static constexpr std::int64_t lifetime_ms = 60'000;
  static constexpr std::size_t most = 16;

  struct Link {
    Requester by;         // the rights and the name of the browser that follows it
    std::string program;  // whose page it leads to; empty: that of all
  };

  // The code of a new one. Kind transient when there are `most` that nobody has used.
  Result<std::string> make(Link link, std::int64_t now_ms);
  // Nothing if no link has this code, or its time is over. It is used up.
  std::optional<Link> take(std::string_view code, std::int64_t now_ms);

 private:
  struct Entry {
    std::string digest;
    std::int64_t until_ms = 0;
    Link link;
  };
  void forget_old(std::int64_t now_ms);
  std::vector<Entry> entries_;
};

}  // namespace trainward::api
