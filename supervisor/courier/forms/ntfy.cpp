// ntfy, by JSON to the server's root: the topic, which is a secret, is in no address so.
#include <fmt/format.h>

#include "supervisor/courier/forms/form.hpp"

namespace trainward::courier {

Result<Call> ntfy_call(const Message& message, const Values& values) {
  constexpr std::size_t most = 4000;  // above 4096 bytes it becomes an attachment
  const std::string_view topic = values.text("topic");
  if (auto usable = check_token(topic, "topic"); !usable) return propagate(usable);
  const std::string server = joined(values.text("server"), "");
  if (auto usable = check_address(server); !usable) return propagate(usable);
  const bool critical = message.tier == "critical";
  const bool warning = message.tier == "warning";
  const std::string_view tag = critical  ? "rotating_light"
                               : warning ? "warning"
                                         : "white_check_mark";
  std::string text = cut(body_text(message), most);
  if (text.empty()) text = message.title;  // else it would say "triggered"
  json::object body{{"topic", topic}, {"priority", critical ? 5 : warning ? 4 : 3}};
  if (message.plain) {
    body["message"] = cut(message.title + "\n" + message.text, most);
  } else {
    body["title"] = message.title;
    body["message"] = text;
    body["tags"] = json::array{tag};
  }
  net::Request request = json_post(server, body);
  if (const std::string_view token = values.text("token"); !token.empty()) {
    if (auto usable = check_token(token, "token"); !usable) return propagate(usable);
    request.headers.push_back({"Authorization", fmt::format("Bearer {}", token)});
  }
  return request;
}

}  // namespace trainward::courier
