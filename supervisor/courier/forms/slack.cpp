// Slack, by an incoming webhook: sections of mrkdwn, and a text for notifications.
#include "supervisor/courier/forms/escape.hpp"
#include "supervisor/courier/forms/form.hpp"

namespace trainward::courier {
namespace {

constexpr std::size_t most_of_a_section = 2900;  // 3000 are taken

json::object section(const std::string& text) {
  return {{"type", "section"}, {"text", json::object{{"type", "mrkdwn"}, {"text", text}}}};
}

std::string in_slack(std::string_view text) {
  return escaped(text, most_of_a_section, slack_character);
}

std::string code(const Message& message) {
  std::string lines;
  for (const std::string& line : message.lines) lines += (lines.empty() ? "" : "\n") + line;
  return "```" +
         escaped(escaped(lines, lines.size(), code_character), most_of_a_section - 6,
                 slack_character) +
         "```";
}

}  // namespace

Result<Call> slack_call(const Message& message, const Values& values) {
  const std::string_view url = values.text("url");
  if (auto usable = check_address(url); !usable) return propagate(usable);
  const std::string mark = message.tier == "critical"  ? ":rotating_light: "
                           : message.tier == "warning" ? ":warning: "
                                                       : ":white_check_mark: ";
  const std::string title = escaped(message.title, most_of_a_section / 2, slack_character);
  if (message.plain) {
    return json_post(std::string(url),
                     json::object{{"text", title + "\n" + in_slack(message.text)}});
  }
  json::array blocks{section(mark + "*" + title + "*")};
  if (!message.text.empty()) blocks.push_back(section(in_slack(message.text)));
  if (!message.lines.empty()) blocks.push_back(section(code(message)));
  if (message.more_count > 0) blocks.push_back(section(in_slack(more_words(message))));
  return json_post(std::string(url), json::object{{"text", title}, {"blocks", std::move(blocks)}});
}

}  // namespace trainward::courier
