#include "supervisor/evidence/rules/line_shape.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "common/base/text.hpp"

namespace trainward::rules {
namespace {

constexpr int longest_ignored_exception = 80;  // lines
constexpr int most_prefixes = 7;

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// Length of an exception's name at the start of the text: dotted, its last part capitalised and
// ending as exceptions do; followed by ':' or nothing.
std::size_t exception_name(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_name(text[length])) ++length;
  if (length < text.size() && text[length] != ':') return 0;
  const std::string_view name = text.substr(0, length);
  const std::size_t dot = name.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
  if (last.empty() ||
      (std::isupper(static_cast<unsigned char>(last[0])) == 0 && last != "timeout" &&
       last != "gaierror" && last != "error" && last != "herror")) {
    return 0;
  }
  if (last == "error") return dot == std::string_view::npos ? 0 : length;  // socket.error
  constexpr std::array<std::string_view, 13> endings{
      "Error", "Exception", "Interrupt", "Exit",      "Timeout", "timeout", "gaierror",
      "Empty", "Failure",   "NotFound",  "Violation", "Aborted", "herror"};
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return last.ends_with(ending); })
             ? length
             : 0;
}

// Length of one thing that stands before the text proper; 0 when it has begun.
std::size_t prefix(std::string_view text) {
  if (text[0] == '[' || text[0] == '(' || text[0] == '<') {
    const char close = text[0] == '[' ? ']' : (text[0] == '(' ? ')' : '>');
    const std::size_t end = text.find(close);
    return end == std::string_view::npos || end > 120 ? 0 : end + 1;
  }
  if (text[0] == ':' || text[0] == '|' || text[0] == '-' || text[0] == '>') return 1;
  const std::size_t end = text.find(' ');
  if (end == std::string_view::npos || end > 120) return 0;
  const std::string_view word = text.substr(0, end);
  constexpr std::array<std::string_view, 8> levels{"E",     "ERROR",    "CRITICAL", "FATAL",
                                                   "Error", "critical", "error",    "Exception"};
  const bool level = std::find(levels.begin(), levels.end(), word) != levels.end();
  const bool stamp = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
  return level || stamp || word.ends_with(':') || word.ends_with('|') ? end : 0;
}

}  // namespace

std::string_view exception_part(std::string_view line) {
  for (int i = 0; i < most_prefixes; ++i) {
    line = trim(line);
    if (line.empty()) return {};
    if (exception_name(line) > 0) return line;
    const std::size_t length = prefix(line);
    if (length == 0) return {};
    line.remove_prefix(length);
  }
  return {};
}

std::uint64_t progress_mark(std::string_view line) {
  // A progress bar repeats "10/1000 [" with a new clock behind the bracket; a line that begins with
  // a bracket has its numbers behind.
  const std::size_t bracket = line.find('[');
  if (bracket != std::string_view::npos &&
      line.substr(0, bracket).find_first_of("0123456789") != std::string_view::npos) {
    line = line.substr(0, bracket);
  }
  std::uint64_t mark = 0xcbf29ce484222325U;
  for (const char c : line.substr(0, 400)) {
    if (c >= '0' && c <= '9') mark = (mark ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return mark;
}

bool Traceback::searchable(std::string_view line) {
  if (ignoring_ > 0) {
    ignoring_ = exception_part(line).empty() ? ignoring_ - 1 : 0;
    return false;
  }
  if (code_column_ != none) {
    const std::size_t column = code_column_;
    code_column_ = none;
    if (line.size() > column + 1 && line[column] == ' ' && line[column + 1] == ' ') return false;
  }
  if (const std::size_t frame = line.find("File \""); frame != std::string_view::npos) {
    if (line.find("\", line ", frame) != std::string_view::npos) code_column_ = frame;
  } else if (line.find("Exception ignored in") != std::string_view::npos) {
    ignoring_ = longest_ignored_exception;
    return false;
  }
  return true;
}

}  // namespace trainward::rules
