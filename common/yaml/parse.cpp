#include <fmt/format.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "common/yaml/document.hpp"
#include "common/yaml/tree_builder.hpp"

namespace trainward::yaml {
namespace {

// A tab in the indentation, or a byte no text file holds: yaml-cpp's own message for them points
// elsewhere or is missing.
std::vector<Problem> check_bytes(std::string_view text, int source) {
  std::vector<Problem> problems;
  Mark mark{1, 1, source};
  bool indenting = true;
  for (const char c : text) {
    if (c == '\n') {
      ++mark.line;
      mark.column = 1;
      indenting = true;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\t' && c != '\r') {
      problems.push_back({mark, fmt::format("byte 0x{:02x}: this is not a text file", byte)});
      return problems;
    }
    if (c == '\t' && indenting) {
      problems.push_back({mark, "a tab in the indentation; YAML wants spaces"});
      indenting = false;
    }
    if (c != ' ') indenting = false;
    ++mark.column;  // bytes, as the parser counts
  }
  return problems;
}

// yaml-cpp takes the end of the file for the end of a quoted text. Only the last one can be cut.
bool quote_left_open(std::string_view text, Mark mark) {
  for (int line = 1; line < mark.line; ++line) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  const auto start = static_cast<std::size_t>(mark.column - 1);
  if (mark.line == 0 || start >= text.size()) return false;
  const char quote = text[start];
  if (quote != '\'' && quote != '"') return false;  // a block scalar: it ends by indentation
  for (std::size_t i = start + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 >= text.size() || text[i + 1] != quote) return false;
      ++i;  // '' is one quote inside the text
    }
  }
  return true;
}

// Expressions and paths are pasted into double quotes, where YAML reads every backslash.
std::string_view cure_of(std::string_view message) {
  if (!message.starts_with("unknown escape character")) return "";
  return "; in double quotes a backslash begins an escape: use single quotes, as in '\\d+', or "
         "write it twice";
}

}  // namespace

Document parse(std::string_view text, const Limits& limits, int source) {
  Document document;
  const Mark start{1, 1, source};
  document.root.kind = Node::Kind::refused;  // until it is read without a fatal error
  if (text.size() > limits.max_bytes) {
    document.problems.push_back(
        {start, fmt::format("longer than the {} bytes allowed", limits.max_bytes)});
    return document;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  document.problems = check_bytes(text, source);
  if (!document.problems.empty()) return document;
  document.root = Node{};

  TreeBuilder builder(limits, source);
  Problem fatal;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    document = builder.take();
    if (document.root.mark.line == 0) document.root.mark = start;
    if (!quote_left_open(text, builder.last_quoted())) return document;
    fatal = {builder.last_quoted(), "the quoted text that begins here is never closed"};
  } catch (const TooLarge& error) {
    fatal = {error.mark, error.what()};
  } catch (const YAML::Exception& error) {
    const bool placed = error.mark.line >= 0 && error.mark.column >= 0;
    fatal = {placed ? Mark{error.mark.line + 1, error.mark.column + 1, source} : start,
             fmt::format("not valid YAML: {}{}", error.msg, cure_of(error.msg))};
  } catch (const std::exception& error) {
    fatal = {start, fmt::format("not readable as YAML: {}", error.what())};
  }
  if (document.problems.empty()) document.problems = builder.take().problems;
  document.root = Node{};
  document.root.kind = Node::Kind::refused;
  document.problems.push_back(std::move(fatal));
  return document;
}

}  // namespace trainward::yaml
