#include "common/protocol/worker_sample.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/json/json.hpp"
#include "common/base/json/json_text.hpp"
#include "common/base/text.hpp"
#include "common/base/utf8.hpp"

namespace trainward {
namespace {

constexpr std::size_t max_end_bytes = 32;

// As much of the text as fits one value; false: it was cut.
bool quote(std::string_view text, std::string& value) {
  value = "\"";
  std::string one;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_character(text), 1);
    one.clear();
    append_json_string(one, text.substr(0, length));
    const auto escaped = std::string_view(one).substr(1, one.size() - 2);
    if (value.size() + escaped.size() + 1 > max_value_bytes) break;
    value += escaped;
    text.remove_prefix(length);
  }
  value += '"';
  return text.empty();
}

// A column of a database and much else takes a NUL for the end.
std::string unquoted(std::string_view value) {
  std::string text(value);
  if (value.starts_with('"')) {
    const auto parsed = parse_json(value, "the text of a sample");
    if (parsed && parsed->is_string()) text = parsed->get_string();
  }
  std::replace(text.begin(), text.end(), '\0', ' ');
  return valid_utf8(std::move(text));
}

}  // namespace

Message message_of(const WorkerSample& sample) {
  Message message{
      {"SAMPLE_STEP", std::to_string(sample.step)}, {"SAMPLE_PROMPT", ""}, {"SAMPLE_ANSWER", ""}};
  const bool whole_prompt = quote(sample.prompt, message[1].second);
  const bool whole_answer = quote(sample.answer, message[2].second);
  if (sample.tokens) message.emplace_back("SAMPLE_TOKENS", std::to_string(*sample.tokens));
  if (!sample.end.empty()) message.emplace_back("SAMPLE_END", sample.end);
  if (sample.cut || !whole_prompt || !whole_answer) message.emplace_back("SAMPLE_CUT", "1");
  return message;
}

std::optional<WorkerSample> told_sample(const Message& message) {
  const auto step = find_int(message, "SAMPLE_STEP");
  const auto prompt = find(message, "SAMPLE_PROMPT");
  const auto answer = find(message, "SAMPLE_ANSWER");
  if (!step || *step < 0 || *step > max_step || !prompt || !answer) return std::nullopt;
  auto tokens = find_int(message, "SAMPLE_TOKENS");
  if (tokens && (*tokens < 0 || *tokens > max_tokens)) tokens = std::nullopt;
  const std::string_view end = find(message, "SAMPLE_END").value_or("").substr(0, max_end_bytes);
  return WorkerSample{*step,  unquoted(*prompt), unquoted(*answer),
                      tokens, clean(end),        find(message, "SAMPLE_CUT") == "1"};
}

}  // namespace trainward
