// What a channel is sent: a form for each kind, from a message to a request or to the call of a
// program. Pure: the values of secrets come in with `Values`, and stay in what is returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "supervisor/courier/forms/form_message.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/orders/channel_kinds.hpp"

namespace trainward::courier {

// A channel's keys with their values, secrets too.
struct Values {
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, std::vector<std::string>, std::less<>> words;
  // "" where the channel has no such key.
  [[nodiscard]] std::string_view text(std::string_view key) const;
};

// A program without a shell, with the environment of the courier and these variables.
struct ProgramCall {
  std::vector<std::string> arguments;  // the first is its absolute path
  std::string input;                   // all of its stdin
  std::vector<std::pair<std::string, std::string>> environment = {};
};

using Call = std::variant<net::Request, ProgramCall>;

// Of a kind that is told messages in their order. Kind permanent or usage: something that the
// channel was given cannot be used; the error never says what stands in it.
Result<Call> call_of(orders::ChannelKind kind, const Message& message, const Values& values,
                     std::int64_t now_ms);

// ---- a file each ----

Result<Call> webhook_call(const Message& message, const Values& values, std::int64_t now_ms);
Result<Call> ntfy_call(const Message& message, const Values& values);
Result<Call> slack_call(const Message& message, const Values& values);
Result<Call> discord_call(const Message& message, const Values& values);
Result<Call> matrix_call(const Message& message, const Values& values);
Result<Call> telegram_call(const Message& message, const Values& values);
Result<Call> mail_call(const Message& message, const Values& values, std::int64_t now_ms);
Result<Call> command_call(const Message& message, const Values& values);

// An alert of Alertmanager's API v2, without its times: {"labels", "annotations"}. The labels are
// the same for every message about one trouble of a tier; what changes is in the annotations.
json::object alert_of(const Message& message);
net::Request alertmanager_request(const json::array& alerts, const Values& values);

// While all is well. `summary` is one line for people.
Result<net::Request> ping_request(const Values& values, std::string_view summary);

// ---- what they share ----

// POST of JSON. `url` is used as it is.
net::Request json_post(std::string url, const json::value& body);
// "https://host/base" and "path" with one '/' between them; without white space at the ends.
std::string joined(std::string_view base, std::string_view path);
// Whether it may be used in a header: one line, printable, no spaces.
Status check_token(std::string_view token, std::string_view what);
Status check_address(std::string_view url);

}  // namespace trainward::courier
