#include "supervisor/courier/forms/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "common/base/json/json.hpp"
#include "common/base/text.hpp"
#include "supervisor/courier/net/http_retry.hpp"

namespace trainward::courier {
namespace {

using orders::ChannelKind;

constexpr std::int64_t longest_wait_ms = 24 * 3'600'000LL;
constexpr std::int64_t most_ahead_ms = 5 * 60'000;  // receivers allow for as much

// Discord, Matrix and Telegram say in the body how long to wait, and more exactly than the header.
std::optional<std::int64_t> wait_in_body(ChannelKind kind, const std::string& body) {
  const auto parsed = parse_json(body, "answer");
  const json::object* object = parsed ? parsed->if_object() : nullptr;
  if (object == nullptr) return std::nullopt;
  double ms = -1;
  if (kind == ChannelKind::discord) ms = number_or(*object, "retry_after", -1) * 1000;
  if (kind == ChannelKind::matrix) ms = number_or(*object, "retry_after_ms", -1);
  if (kind == ChannelKind::telegram) {
    const auto parameters = get_object(*object, "parameters");
    if (parameters) ms = number_or(**parameters, "retry_after", -1) * 1000;
  }
  if (!(ms >= 0)) return std::nullopt;
  return static_cast<std::int64_t>(std::min(std::ceil(ms), static_cast<double>(longest_wait_ms)));
}

std::string words_for(ChannelKind kind, int status) {
  switch (status) {
    case 400:
      return "it does not understand the message (HTTP 400): see whether the channel's kind is "
             "right";
    case 401:
    case 403:
      return fmt::format(
          "it does not let us in (HTTP {}): the token or address has expired or is another's; put "
          "the new one into its file",
          status);
    case 402:
      return "it wants to be paid first (HTTP 402)";
    case 404:
      // Its address has the token in it.
      if (kind == ChannelKind::telegram) {
        return "it knows no such bot (HTTP 404): the token is wrong or was withdrawn; put the new "
               "one into its file";
      }
      return "there is no such place (HTTP 404): see whether address, topic or room is right";
    case 407:
      return "the proxy on the way wants to know who asks (HTTP 407)";
    case 410:
      return "it takes no more messages there (HTTP 410): the address was withdrawn; put the new "
             "one into its place";
    case 413:
      return "the message is too long for it (HTTP 413)";
    case 429:
      return "it takes no more messages for now (HTTP 429)";
    default:
      break;
  }
  if (status >= 300 && status < 400) {
    return fmt::format(
        "it points to another address (HTTP {}), which is not followed: write the address that it "
        "points to",
        status);
  }
  if (status >= 500) return fmt::format("its server has a trouble of its own (HTTP {})", status);
  return fmt::format("it does not take the message (HTTP {})", status);
}

// Somebody may put it right, or what stood in the way (a proxy, a portal) goes away.
bool may_be_put_right(int status) {
  constexpr std::array<int, 6> statuses = {401, 402, 403, 404, 407, 410};
  return (status >= 300 && status < 400) ||
         std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

std::string skew_words(std::int64_t ahead_ms) {
  return fmt::format("this machine's clock is {} {} its clock: set the wrong one right",
                     human_duration(std::abs(ahead_ms)), ahead_ms > 0 ? "ahead of" : "behind");
}

}  // namespace

Verdict verdict_on(ChannelKind kind, const net::Answer& answer, std::int64_t now_ms) {
  if (answer.status >= 200 && answer.status < 300) return {};
  std::string words = words_for(kind, answer.status);
  const auto ahead = net::ahead_ms(answer, now_ms);
  const bool skewed = ahead && std::abs(*ahead) > most_ahead_ms;
  if (skewed && answer.status == 400) {
    return {Verdict::Kind::refused,
            fmt::format("it does not take the message (HTTP 400); {}", skew_words(*ahead))};
  }
  if (skewed && (answer.status == 401 || answer.status == 403)) {
    words += fmt::format(". Or the time is why: {}", skew_words(*ahead));
  }
  if (may_be_put_right(answer.status)) return {Verdict::Kind::refused, words};
  if (!net::may_be_retried(answer.status)) return {Verdict::Kind::never, words};
  auto wait = wait_in_body(kind, answer.body);
  if (!wait) wait = net::asked_to_wait_ms(answer, now_ms);
  return {Verdict::Kind::again, words, wait};
}

Verdict verdict_on_exit(ChannelKind kind, int status) {
  constexpr int try_again = 75;
  // No such host, not available, trouble of the system, of reading and writing.
  constexpr std::array<int, 4> unreachable = {68, 69, 71, 74};
  if (status == 0) return {};
  if (status == try_again) {
    return {Verdict::Kind::again, "the program asks for another try (exit status 75)"};
  }
  if (kind == ChannelKind::mail &&
      std::find(unreachable.begin(), unreachable.end(), status) != unreachable.end()) {
    return {Verdict::Kind::again,
            fmt::format("the program did not reach its server (exit status {})", status)};
  }
  return {Verdict::Kind::never, fmt::format("the program failed (exit status {})", status)};
}

}  // namespace trainward::courier
