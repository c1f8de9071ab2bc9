// Matrix: PUT with a transaction's id, which makes a repetition harmless.
#include <fmt/format.h>

#include "common/base/percent.hpp"
#include "common/base/text.hpp"
#include "supervisor/courier/forms/escape.hpp"
#include "supervisor/courier/forms/form.hpp"

namespace trainward::courier {
namespace {

constexpr std::size_t most_of_text = 16'000;  // an event is 64 KiB at most, with both forms in it

std::string in_html(std::string_view text) {
  std::string out;
  const std::string plain = escaped(text, most_of_text, html_character);
  for (const char c : plain) out += c == '\n' ? "<br>" : std::string(1, c);
  return out;
}

// `m.mentions` says who is mentioned: nobody. Where it is not known yet, "@room" wakes a room.
std::string nobody_in(std::string_view text) {
  constexpr std::string_view room = "@room";
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    out += text[at];
    if (lower_case(text.substr(at, room.size())) == room) out += "\u200b";
  }
  return out;
}

}  // namespace

Result<Call> matrix_call(const Message& message, const Values& values) {
  const std::string_view token = values.text("token");
  if (auto usable = check_token(token, "token"); !usable) return propagate(usable);
  const std::string url =
      joined(values.text("server"),
             fmt::format("_matrix/client/v3/rooms/{}/send/m.room.message/{}",
                         percent_encoded(values.text("room")), percent_encoded(message.id)));
  if (auto usable = check_address(url); !usable) return propagate(usable);
  std::string formatted = fmt::format("<b>{}</b>", in_html(message.title));
  if (!message.text.empty()) formatted += "<br>" + in_html(message.text);
  if (!message.lines.empty()) {
    std::string lines;
    for (const std::string& line : message.lines) lines += line + "\n";
    formatted += "<pre><code>" + escaped(lines, most_of_text, html_character) + "</code></pre>";
  }
  if (message.more_count > 0) formatted += "<br>" + in_html(more_words(message));
  json::object content{
      {"msgtype", message.tier == "info" ? "m.notice" : "m.text"},
      {"body", nobody_in(cut(message.title + "\n" + body_text(message), most_of_text))},
      {"m.mentions", json::object()}};
  if (!message.plain) {
    content["format"] = "org.matrix.custom.html";
    content["formatted_body"] = nobody_in(formatted);
  }
  net::Request request = json_post(url, content);
  request.method = "PUT";
  request.headers.push_back({"Authorization", fmt::format("Bearer {}", token)});
  return request;
}

}  // namespace trainward::courier
