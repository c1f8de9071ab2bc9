#include "supervisor/courier/net/http_retry.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "common/base/number_in.hpp"
#include "common/base/text.hpp"

namespace trainward::net {
namespace {

constexpr std::int64_t longest_wait_ms = std::int64_t{24} * 3600 * 1000;

std::optional<std::int64_t> whole_number(std::string_view text) {
  const auto number = number_in<std::int64_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<std::int64_t> http_date_ms(std::string_view text) {
  const std::time_t seconds = ::curl_getdate(std::string(text).c_str(), nullptr);
  if (seconds < 0) return std::nullopt;
  return std::int64_t{seconds} * 1000;
}

std::optional<std::int64_t> retry_after_ms(const Answer& answer, std::int64_t now_ms) {
  const std::string_view text = trim(answer.header("retry-after"));
  // A second more: the server counts whole ones, and its clock has moved since.
  if (const auto seconds = whole_number(text)) {
    return std::min(*seconds, longest_wait_ms / 1000) * 1000 + 1000;
  }
  const auto at = http_date_ms(text);
  if (!at) return std::nullopt;
  // By the server's own clock where it tells it: this machine's may be wrong.
  const auto theirs = http_date_ms(trim(answer.header("date")));
  return std::max<std::int64_t>(0, *at - theirs.value_or(now_ms)) + 1000;
}

// `"api";r=0;t=55`: nothing is left for 55 s. Of several policies the longest wait counts.
std::optional<std::int64_t> rate_limit_ms(std::string_view text) {
  std::optional<std::int64_t> longest;
  while (!text.empty()) {
    std::string_view policy = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), policy.size() + 1));
    std::optional<std::int64_t> remaining;
    std::optional<std::int64_t> seconds;
    while (!policy.empty()) {
      const std::string_view whole = policy.substr(0, policy.find(';'));
      policy.remove_prefix(std::min(policy.size(), whole.size() + 1));
      const std::string_view part = trim(whole);
      if (part.starts_with("r=")) remaining = whole_number(part.substr(2));
      if (part.starts_with("t=")) seconds = whole_number(part.substr(2));
    }
    if (remaining != 0 || !seconds) continue;
    const std::int64_t wait = std::min(*seconds, longest_wait_ms / 1000) * 1000 + 1000;
    longest = std::max(longest.value_or(0), wait);
  }
  return longest;
}

}  // namespace

bool may_be_retried(int status) {
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status <= 599);
}

std::optional<std::int64_t> asked_to_wait_ms(const Answer& answer, std::int64_t now_ms) {
  const auto after = retry_after_ms(answer, now_ms);
  const auto limit = rate_limit_ms(answer.header("ratelimit"));
  if (!after && !limit) return std::nullopt;
  return std::min(std::max(after.value_or(0), limit.value_or(0)), longest_wait_ms);
}

std::optional<std::int64_t> ahead_ms(const Answer& answer, std::int64_t now_ms) {
  const auto theirs = http_date_ms(trim(answer.header("date")));
  if (!theirs) return std::nullopt;
  return now_ms - *theirs;
}

Backoff::Backoff(std::uint64_t seed, std::int64_t first_ms, std::int64_t most_ms)
    : random_(seed), first_ms_(first_ms), most_ms_(most_ms) {}

std::int64_t Backoff::pause_ms(int tries) {
  std::int64_t pause = first_ms_;
  for (int i = 1; i < tries && pause < most_ms_; ++i) pause *= 2;
  pause = std::min(pause, most_ms_);
  std::uniform_int_distribution<std::int64_t> shift(-pause / 4, pause / 4);
  return pause + shift(random_);
}

}  // namespace trainward::net
