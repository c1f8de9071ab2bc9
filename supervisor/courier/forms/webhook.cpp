// Standard Webhooks 1.0: the document as JSON, its id the same over repetitions, and a signature by
// each key where there are keys.
#include <fmt/format.h>

#include "supervisor/courier/forms/form.hpp"
#include "supervisor/courier/forms/form_signature.hpp"

namespace trainward::courier {

Result<Call> webhook_call(const Message& message, const Values& values, std::int64_t now_ms) {
  constexpr std::size_t most = 20'000;
  const std::string_view url = values.text("url");
  if (auto usable = check_address(url); !usable) return propagate(usable);
  net::Request request = json_post(std::string(url), document_of(message, most));
  const std::string& body = std::get<std::string>(request.body);
  const std::string timestamp = fmt::format("{}", now_ms / 1000);
  request.headers.push_back({"webhook-id", message.id});
  request.headers.push_back({"webhook-timestamp", timestamp});
  if (const std::string_view secret = values.text("secret"); !secret.empty()) {
    auto keys = signing_keys(secret);
    if (!keys) return propagate(keys);
    request.headers.push_back(
        {"webhook-signature", signatures(*keys, message.id, timestamp, body)});
  }
  return request;
}

}  // namespace trainward::courier
