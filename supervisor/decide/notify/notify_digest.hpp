// The digest: what a day came to, or a week in which nothing happened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/decide/notify/local_time.hpp"
#include "supervisor/decide/notify/message.hpp"
#include "supervisor/decide/notify/notify_policy.hpp"

namespace trainward::notify {

// What is remembered of digests, stored as JSON.
struct DigestMemory {
  std::int64_t sent_ms = 0;    // the last one, or since when there are any; 0: none yet
  std::int64_t looked_ms = 0;  // when it was thought of last
  friend bool operator==(const DigestMemory&, const DigestMemory&) = default;
};

std::string to_json_text(const DigestMemory& memory);
Result<DigestMemory> digest_memory_from(std::string_view text);

// The same, or a new start: there was no digest yet, or the clock has been set back since.
DigestMemory sound(const DigestMemory& memory, std::int64_t now_ms);

// When to think of the next one; none: there is no digest.
std::optional<std::int64_t> digest_due(const Policy& policy, const DigestMemory& memory,
                                       const Zone& zone);

enum class Digest { none, daily, weekly };
// On a day when something happened; else when the last one is a week old.
Digest digest_now(const DigestMemory& memory, std::int64_t now_ms, bool happened);

struct ProgramFigures {
  json::object row;  // of GET /v1/programs, with effective_share of the time that is told of
  std::vector<std::pair<std::string, std::int64_t>> ends;  // attempts that ended, by cause
  std::optional<std::int64_t> step_then, step_now;
  std::optional<double> loss_then, loss_now;
  std::optional<double> held_out_then, held_out_now;
};

struct DigestFigures {
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  Digest which = Digest::daily;
  std::vector<ProgramFigures> programs;
  std::vector<std::string> waited;  // titles of messages that waited for it
  std::vector<std::string> boards;  // that are not well, in words
  // How many messages did not reach which channel.
  std::vector<std::pair<std::string, std::int64_t>> given_up = {};
};

// Without an id; due at once.
Message worded(const DigestFigures& figures, const Policy& policy);

}  // namespace trainward::notify
