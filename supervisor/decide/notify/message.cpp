#include "supervisor/decide/notify/message.hpp"

#include <algorithm>

#include "common/base/columns.hpp"
#include "common/base/escape_sequence.hpp"
#include "common/base/text.hpp"
#include "common/base/utf8.hpp"

namespace trainward::notify {
namespace {

constexpr std::size_t longest_line = 300;  // columns
constexpr std::size_t least_name = 12;     // columns of a program's name that stay

}  // namespace

json::object body_of(const Message& message) {
  json::array lines;
  for (const std::string& line : message.lines) lines.emplace_back(line);
  json::object body{{"text", message.text},
                    {"fields", message.fields},
                    {"lines", std::move(lines)},
                    {"resolves", message.resolves},
                    {"started_ms", message.started_ms}};
  if (!message.tells.empty())
    body["tells"] = json::array(message.tells.begin(), message.tells.end());
  return body;
}

std::string title_of(std::string_view program, std::string_view verdict) {
  const std::string what = clean(verdict);
  if (program.empty()) return shortened(what, longest_title);
  const std::size_t rest = std::min(display_width(what) + 2, longest_title - least_name);
  return shortened(shortened(clean(program), longest_title - rest) + ": " + what, longest_title);
}

std::vector<std::string> shown_lines(const std::vector<std::string>& lines, int most) {
  std::vector<std::string> shown;
  std::size_t bytes = 0;
  for (auto line = lines.rbegin(); line != lines.rend() && std::ssize(shown) < most; ++line) {
    std::string text = shortened(clean(without_escape_sequences(*line)), longest_line);
    bytes += text.size() + 1;
    if (bytes > longest_lines) break;
    shown.push_back(std::move(text));
  }
  std::ranges::reverse(shown);
  return shown;
}

}  // namespace trainward::notify
