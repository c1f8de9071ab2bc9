// Telegram, by a bot, as plain text: nothing in it is markup.
#include <fmt/format.h>

#include "supervisor/courier/forms/form.hpp"

namespace trainward::courier {

Result<Call> telegram_call(const Message& message, const Values& values) {
  constexpr std::size_t most =
      4000;  // 4096 characters are taken, of which no text has more than bytes
  const std::string_view token = values.text("token");
  if (auto usable = check_token(token, "token"); !usable) return propagate(usable);
  const std::string url = joined(values.text("server"), fmt::format("bot{}/sendMessage", token));
  if (auto usable = check_address(url); !usable) return propagate(usable);
  const std::string text = cut(message.title + "\n\n" + body_text(message), most);
  return json_post(url, json::object{{"chat_id", values.text("chat")},
                                     {"text", text},
                                     {"disable_web_page_preview", true},
                                     {"disable_notification", message.tier == "info"}});
}

}  // namespace trainward::courier
