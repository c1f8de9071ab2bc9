#include "supervisor/courier/forms/form.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.hpp"

namespace trainward::courier {

using orders::ChannelKind;

std::string_view Values::text(std::string_view key) const {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string_view() : std::string_view(found->second);
}

net::Request json_post(std::string url, const json::value& body) {
  net::Request request;
  request.method = "POST";
  request.url = std::move(url);
  request.headers = {{"Content-Type", "application/json"}};
  request.body = json::serialize(body);
  request.cut_answer = true;  // a 2xx answer means accepted, whatever else it says
  return request;
}

std::string joined(std::string_view base, std::string_view path) {
  base = trim(base);
  while (base.ends_with('/')) base.remove_suffix(1);
  while (path.starts_with('/')) path.remove_prefix(1);
  return fmt::format("{}/{}", base, path);
}

Status check_token(std::string_view token, std::string_view what) {
  const bool usable = !token.empty() && std::all_of(token.begin(), token.end(),
                                                    [](char c) { return c > ' ' && c < 127; });
  if (usable) return {};
  return fail(ErrorKind::usage, fmt::format("the {} is empty, or has spaces or lines in it", what));
}

Status check_address(std::string_view url) {
  const bool web = url.starts_with("https://") || url.starts_with("http://");
  if (web && check_token(url, "address")) return {};
  return fail(ErrorKind::usage, "the value given as the address is not a valid https:// address",
              "", "the file holds the address alone, on one line");
}

Result<Call> call_of(ChannelKind kind, const Message& message, const Values& values,
                     std::int64_t now_ms) {
  switch (kind) {
    case ChannelKind::webhook:
      return webhook_call(message, values, now_ms);
    case ChannelKind::ntfy:
      return ntfy_call(message, values);
    case ChannelKind::slack:
      return slack_call(message, values);
    case ChannelKind::discord:
      return discord_call(message, values);
    case ChannelKind::matrix:
      return matrix_call(message, values);
    case ChannelKind::telegram:
      return telegram_call(message, values);
    case ChannelKind::mail:
      return mail_call(message, values, now_ms);
    case ChannelKind::command:
      return command_call(message, values);
    case ChannelKind::alertmanager:
    case ChannelKind::ping:
      break;
  }
  return fail(ErrorKind::usage, "a channel of this kind is not told messages one by one");
}

}  // namespace trainward::courier
