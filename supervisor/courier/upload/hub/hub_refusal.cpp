#include "supervisor/courier/upload/hub/hub_refusal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/json/json.hpp"
#include "common/base/text.hpp"
#include "common/base/utf8.hpp"
#include "supervisor/courier/net/http_retry.hpp"

namespace trainward::upload::hub {
namespace {

constexpr std::size_t longest_words = 200;
// The quota of commits counts by the hour, and its own hints are wrong.
constexpr std::int64_t commit_quota_ms = 61 * 60 * 1'000;
constexpr std::string_view settings_page = "https://huggingface.co/settings/tokens";

bool is_token_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

// "…" in the place of what begins with `mark` and goes on with bytes of a token.
std::string without(std::string_view text, std::string_view mark) {
  std::string out;
  while (true) {
    const auto at = text.find(mark);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + mark.size());
    const auto* end = std::find_if_not(text.begin(), text.end(), is_token_byte);
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
    out += "[…]";
  }
}

// The same for the query of an address.
std::string without_queries(std::string_view text) {
  std::string out;
  while (true) {
    const auto at = text.find('?');
    out += text.substr(0, at == std::string_view::npos ? at : at + 1);
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
    const auto end = std::min(text.find_first_of(" \"'<>"), text.size());
    if (text.substr(0, end).find('=') != std::string_view::npos) {
      out += "[…]";
      text.remove_prefix(end);
    }
  }
}

struct Meaning {
  ErrorKind kind;
  std::string_view what;
  std::string_view hint;
};

Meaning meaning_of(const net::Answer& answer) {
  const int status = answer.status;
  if (status >= 300 && status < 400) {
    return {ErrorKind::permanent, "the repository has moved",
            "write its new name into the configuration"};
  }
  switch (status) {
    case 401:
      return {ErrorKind::permanent, "the token is not accepted: it has expired or was revoked",
              "make one with the right to write, and put it into the file that the configuration "
              "names"};
    case 402:
      return {ErrorKind::permanent, "the account has to be paid for",
              "look at its plan and its storage, or choose another target"};
    case 403:
      return {ErrorKind::permanent, "the token may not do this",
              "give it the right to write into this repository, and look whether the account's "
              "storage is full"};
    case 404:
      return {ErrorKind::permanent, "it is not there, or the token may not see it",
              "look at the name of the repository and the rights of the token"};
    case 409:
      return {ErrorKind::transient, "something else is being done to the repository", ""};
    case 412:
      return {ErrorKind::transient, "somebody else has committed meanwhile", ""};
    case 429:
      return {ErrorKind::transient, "the server asks for fewer requests", ""};
    default:
      break;
  }
  if (net::may_be_retried(status)) return {ErrorKind::transient, "the server is not able to", ""};
  return {ErrorKind::permanent, "the server refused it", "see what it says"};
}

}  // namespace

bool is_commit_quota(const net::Answer& answer) {
  return (answer.status == 429 || answer.status >= 500) &&
         (answer.body.find("rate limit for repository commits") != std::string::npos ||
          answer.header("x-error-message").find("rate limit for repository commits") !=
              std::string_view::npos);
}

std::string safe_words(std::string_view text) {
  std::string words = clean(text.substr(0, 16 * longest_words));
  for (const std::string_view mark : {"hf_", "HFAK", "Bearer "}) words = without(words, mark);
  words = without_queries(words);
  if (words.size() > longest_words) {
    words.resize(utf8_valid_prefix(std::string_view(words).substr(0, longest_words)));
    words += "…";
  }
  return words;
}

std::string words_of(const net::Answer& answer) {
  if (const std::string_view said = answer.header("x-error-message"); !said.empty()) {
    return safe_words(said);
  }
  const auto value = parse_json(answer.body, "");
  const auto* object = value ? value->if_object() : nullptr;
  if (object == nullptr) return {};
  for (const std::string_view key : {"error", "message"}) {
    if (auto said = string_or(*object, key, ""); !said.empty()) return safe_words(said);
  }
  return {};
}

std::string_view error_code(const net::Answer& answer) { return answer.header("x-error-code"); }

Refusal refusal_of(const net::Answer& answer, std::string_view doing, const std::string& where,
                   std::int64_t now_ms) {
  const Meaning meaning = meaning_of(answer);
  const std::string said = words_of(answer);
  Refusal out;
  out.error = {meaning.kind,
               fmt::format("could not {}: {} ({}{}{})", doing, meaning.what, answer.status,
                           said.empty() ? "" : ": ", said),
               where, std::string(meaning.hint)};
  if (answer.status == 401) out.error.hint += fmt::format(": {}", settings_page);
  if (is_commit_quota(answer)) {
    out.error.kind = ErrorKind::transient;
    out.error.what = fmt::format(
        "could not {}: the Hub takes only so many commits an hour, and they are used up", doing);
    out.error.hint = "upload less often: every, every_steps or milestones of the target";
    out.wait_ms = commit_quota_ms;
  } else if (net::may_be_retried(answer.status)) {
    out.wait_ms = net::asked_to_wait_ms(answer, now_ms);
  }
  return out;
}

}  // namespace trainward::upload::hub
