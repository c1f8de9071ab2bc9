// When to try again what a server or the network refused. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "supervisor/courier/net/http_client.hpp"

namespace trainward::net {

// Whether the same request may be taken later: 408, 425, 429 and 5xx.
bool may_be_retried(int status);

// What a server asks for: Retry-After in seconds or as an HTTP date, or RateLimit with r=0. In ms
// from now, at least 0 and at most a day.
std::optional<std::int64_t> asked_to_wait_ms(const Answer& answer, std::int64_t now_ms);

// By how much this machine's clock is ahead of the server's, as the answer's date has it.
std::optional<std::int64_t> ahead_ms(const Answer& answer, std::int64_t now_ms);

// 5 s, doubled up to 15 min, each shifted by up to a quarter either way.
class Backoff {
 public:
  explicit Backoff(std::uint64_t seed, std::int64_t first_ms = 5'000,
                   std::int64_t most_ms = 900'000);
  // After `tries` (from 1) that failed.
  std::int64_t pause_ms(int tries);

 private:
  std::mt19937_64 random_;
  std::int64_t first_ms_;
  std::int64_t most_ms_;
};

}  // namespace trainward::net
