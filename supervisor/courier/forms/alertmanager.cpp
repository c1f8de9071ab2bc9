// Alertmanager's API v2. Labels are what an alert is known by, so they hold nothing that changes
// while the trouble lasts.
#include <fmt/format.h>

#include "common/base/time.hpp"
#include "supervisor/courier/forms/form.hpp"

namespace trainward::courier {
namespace {

// "no_progress": "TrainwardNoProgress".
std::string alert_name(std::string_view kind) {
  std::string out = "Trainward";
  bool begins = true;
  for (const char c : kind) {
    if (c == '_') {
      begins = true;
      continue;
    }
    out += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = false;
  }
  return out;
}

}  // namespace

json::object alert_of(const Message& message) {
  json::object labels{{"alertname", alert_name(message.kind)},
                      {"severity", message.tier},
                      {"instance", message.host.empty() ? message.run : message.host},
                      {"run", message.run}};
  if (!message.program.empty()) labels["program"] = message.program;
  json::object annotations{{"summary", message.title},
                           {"description", cut(body_text(message), 8000)}};
  const json::value* cause = message.fields.if_contains("cause");
  if (cause != nullptr && cause->is_string() && !cause->get_string().empty()) {
    annotations["cause"] = *cause;
  }
  const std::int64_t attempt = int_or(message.fields, "attempt", 0);
  if (attempt > 0) annotations["attempt"] = fmt::format("{}", attempt);
  return {{"labels", std::move(labels)}, {"annotations", std::move(annotations)}};
}

net::Request alertmanager_request(const json::array& alerts, const Values& values) {
  net::Request request = json_post(joined(values.text("url"), "api/v2/alerts"), alerts);
  if (const std::string_view token = values.text("token"); !token.empty()) {
    request.headers.push_back({"Authorization", fmt::format("Bearer {}", token)});
  }
  return request;
}

}  // namespace trainward::courier
