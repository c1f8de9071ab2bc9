// What a Hub's refusal means: whether and when to try again, and what a person has to do. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "supervisor/courier/net/http_client.hpp"

namespace trainward::upload::hub {

struct Refusal {
  Error error;
  std::optional<std::int64_t> wait_ms;  // that the server asks for; nothing: as usual
};

inline bool is_ok(const net::Answer& answer) { return answer.status >= 200 && answer.status < 300; }

// `doing`: "commit the checkpoint". `where`: the repository, for people. `now_ms`: wall time. The
// server's own words are part of the error as far as they are safe to show.
Refusal refusal_of(const net::Answer& answer, std::string_view doing, const std::string& where,
                   std::int64_t now_ms);

// Whether the quota of commits is used up: another one than that of requests, told by its words.
bool is_commit_quota(const net::Answer& answer);

// The code that a Hub gives with a 404: "RepoNotFound", "RevisionNotFound", "EntryNotFound"; "".
std::string_view error_code(const net::Answer& answer);

// A server's words for a person: one line, at most 200 bytes, without what looks like a token or
// the signed part of an address.
std::string safe_words(std::string_view text);

// The message in the header or the JSON body of an answer; "" if there is no message.
std::string words_of(const net::Answer& answer);

}  // namespace trainward::upload::hub
