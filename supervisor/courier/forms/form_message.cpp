#include "supervisor/courier/forms/form_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/time.hpp"
#include "common/base/utf8.hpp"

namespace trainward::courier {
namespace {

constexpr std::string_view ellipsis = "…";
constexpr std::size_t most_fields = 48;
constexpr std::size_t longest_field = 1024;

// One of the members: a value that is one, or a short list or map of such.
bool may_be_told(const json::value& value) {
  return json::serialize(value).size() <= longest_field;
}

json::object fields_of(const json::object& from) {
  json::object out;
  for (const auto& [key, value] : from) {
    if (out.size() == most_fields) break;
    if (key.size() > 64) continue;
    if (value.is_string()) {
      out[key] = cut(printable(view(value.get_string())), longest_field / 2);
    } else if (may_be_told(value)) {
      out[key] = value;
    }
  }
  return out;
}

std::vector<std::string> lines_of(const json::array& from) {
  std::vector<std::string> out;
  for (const json::value& line : from) {
    if (out.size() == most_lines) break;
    if (line.is_string()) out.push_back(cut(clean(view(line.get_string())), longest_line));
  }
  return out;
}

json::array array_of(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(text);
  return out;
}

json::object document_with(const Message& message, std::size_t text_bytes, bool fields,
                           bool lists) {
  json::object data = fields ? message.fields : json::object();
  data["id"] = message.id;
  data["host"] = cut(message.host, longest_title);
  data["run"] = message.run;
  data["program"] = cut(message.program, longest_title);
  data["tier"] = message.tier;
  data["kind"] = message.kind;
  data["title"] = message.title;
  data["text"] = cut(message.text, text_bytes);
  data["resolves"] = message.resolves;
  data["started_at"] = iso8601(message.started_ms > 0 ? message.started_ms : message.at_ms);
  data["lines"] = lists ? array_of(message.lines) : json::array();
  data["more_count"] = message.more_count;
  data["more"] = lists ? array_of(message.more) : json::array();
  if (message.episode != 0) data["episode"] = message.episode;
  return {{"type", "trainward." + message.kind},
          {"timestamp", iso8601(message.at_ms)},
          {"data", std::move(data)}};
}

std::string plain_word(std::string_view text, std::string_view otherwise) {
  const bool plain =
      !text.empty() && text.size() <= 40 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
  return std::string(plain ? text : otherwise);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const bool ends = text.find('\n') != std::string_view::npos;
    std::string_view line = take_line(text);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out += clean(line);
    if (ends) out += '\n';
  }
  return out;
}

std::string cut(std::string_view text, std::size_t most) {
  std::string whole = valid_utf8(std::string(text));
  if (whole.size() <= most) return whole;
  if (most < ellipsis.size()) return {};
  std::size_t end = 0;
  while (end < whole.size()) {
    const std::size_t length = utf8_character(std::string_view(whole).substr(end));
    if (length == 0 || end + length > most - ellipsis.size()) break;
    end += length;
  }
  return whole.substr(0, end) + std::string(ellipsis);
}

Message message_of(const MessageFacts& row, std::string_view body, const Speaker& speaker,
                   bool log_lines) {
  Message out;
  out.id = fmt::format("msg_{}_{}", plain_word(speaker.run, "run"), row.id);
  out.host = cut(clean(speaker.host), longest_title);
  out.run = plain_word(speaker.run, "run");
  out.at_ms = row.at_ms;
  out.episode = row.episode;
  out.program = cut(clean(row.program), longest_title);
  out.tier = plain_word(row.tier, "info");
  out.kind = plain_word(row.kind, "message");
  out.title = cut(clean(row.title), longest_title);
  const auto parsed = parse_json(body, "message");
  const json::object* object = parsed ? parsed->if_object() : nullptr;
  if (object == nullptr) return out;
  out.text = cut(printable(string_or(*object, "text", "")), longest_text);
  out.resolves = bool_or(*object, "resolves", false);
  out.started_ms = std::max<std::int64_t>(int_or(*object, "started_ms", 0), 0);
  if (const auto fields = get_object(*object, "fields")) out.fields = fields_of(**fields);
  if (!log_lines) {
    for (const char* key : {"evidence", "evidence_place"}) out.fields.erase(key);
  }
  if (const auto lines = get_array(*object, "lines"); lines && log_lines) {
    out.lines = lines_of(**lines);
  }
  return out;
}

Message in_plain(Message message) {
  constexpr std::size_t most = 500;
  const auto ascii = [](std::string_view text) {
    std::string out;
    while (!text.empty()) {
      const std::size_t length = std::max<std::size_t>(utf8_character(text), 1);
      out += length == 1 && static_cast<unsigned char>(text[0]) < 128 ? text[0] : '?';
      text.remove_prefix(length);
    }
    return out;
  };
  message.plain = true;
  message.title = ascii(message.title);
  message.text = ascii(cut(message.text, most));
  if (message.more_count > 0) message.text += fmt::format("\nAnd {} more.", message.more_count);
  message.fields = {};
  message.lines.clear();
  message.more.clear();
  message.more_count = 0;
  return message;
}

std::string more_words(const Message& message) {
  if (message.more_count == 0) return {};
  std::string text = fmt::format("And {} more:", message.more_count);
  for (const std::string& title : message.more) text += "\n- " + title;
  const auto unlisted = message.more_count - static_cast<std::int64_t>(message.more.size());
  if (unlisted > 0 && !message.more.empty()) text += fmt::format("\n- … and {} others", unlisted);
  return text;
}

std::string body_text(const Message& message) {
  std::string text = message.text;
  if (!message.lines.empty()) {
    text += "\n\nThe end of its log:";
    for (const std::string& line : message.lines) text += "\n  " + line;
  }
  if (message.more_count > 0) text += "\n\n" + more_words(message);
  return text;
}

json::object document_of(const Message& message, std::size_t most) {
  json::object out = document_with(message, longest_text, true, true);
  if (json::serialize(out).size() <= most) return out;
  out = document_with(message, longest_text / 2, true, false);
  if (json::serialize(out).size() <= most) return out;
  return document_with(message, longest_text / 8, false, false);
}

}  // namespace trainward::courier
