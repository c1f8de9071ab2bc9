// Discord, by a webhook that waits until the message is there. Nobody is mentioned by it.
#include <fmt/format.h>

#include "common/base/time.hpp"
#include "supervisor/courier/forms/escape.hpp"
#include "supervisor/courier/forms/form.hpp"

namespace trainward::courier {
namespace {

// Discord counts characters, of which no text has more than bytes: 256 a title, 1024 a field, 4096
// a description, 6000 all of it.
constexpr std::size_t most_of_title = 250;
constexpr std::size_t most_of_field = 1000;
constexpr std::size_t most_of_description = 3400;
constexpr std::size_t most_of_content = 1900;  // 2000 are taken

std::string in_discord(std::string_view text, std::size_t most) {
  return escaped(text, most, discord_character);
}

}  // namespace

Result<Call> discord_call(const Message& message, const Values& values) {
  const std::string_view url = values.text("url");
  if (auto usable = check_address(url); !usable) return propagate(usable);
  const bool asks = url.find('?') != std::string_view::npos;
  const std::string address = fmt::format("{}{}wait=true", url, asks ? '&' : '?');
  const json::object nobody{{"parse", json::array()}};
  if (message.plain) {
    const std::string content = message.title + "\n" + message.text;
    return json_post(address, json::object{{"content", in_discord(content, most_of_content)},
                                           {"allowed_mentions", nobody}});
  }
  json::object embed{{"title", in_discord(message.title, most_of_title)},
                     {"description", in_discord(message.text, most_of_description)},
                     {"color", message.tier == "critical"  ? 0xd55e00
                               : message.tier == "warning" ? 0xe69f00
                                                           : 0x009e73},
                     {"timestamp", iso8601(message.at_ms)}};
  json::array fields;
  if (!message.lines.empty()) {
    std::string lines;
    for (const std::string& line : message.lines) lines += (lines.empty() ? "" : "\n") + line;
    fields.push_back(json::object{
        {"name", "The end of its log"},
        {"value", "```\n" + escaped(lines, most_of_field - 8, code_character) + "\n```"}});
  }
  if (message.more_count > 0) {
    fields.push_back(
        json::object{{"name", "More"}, {"value", in_discord(more_words(message), most_of_field)}});
  }
  if (!fields.empty()) embed["fields"] = std::move(fields);
  return json_post(address, json::object{{"content", in_discord(message.title, most_of_title)},
                                         {"embeds", json::array{std::move(embed)}},
                                         {"allowed_mentions", nobody}});
}

}  // namespace trainward::courier
