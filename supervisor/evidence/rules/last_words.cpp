#include "supervisor/evidence/rules/last_words.hpp"

#include <algorithm>
#include <cctype>
#include <deque>
#include <vector>

#include "common/base/line_splitter.hpp"
#include "supervisor/evidence/rules/line_text.hpp"

namespace trainward::rules {
namespace {

constexpr std::size_t most_lines = 200;
constexpr std::size_t longest_line = 8192;
constexpr std::size_t longest_words = 500;

bool has_word(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalpha(c) != 0 || c >= 0x80; });
}

bool is_chatter(const LogMatcher& matcher, std::string_view line) {
  std::vector<PatternId> candidates;
  matcher.candidates(line, candidates);
  const auto match = matcher.match(line, candidates);
  return match && matcher.rule(match->rule).kind != Kind::fault;
}

}  // namespace

std::optional<LastWords> last_words(const LogMatcher& matcher, std::string_view text) {
  std::deque<LastWords> newest;
  LineSplitter lines(longest_line);
  const auto keep = [&](std::string_view line, std::int64_t number) {
    newest.push_back({std::string(line), number});
    if (newest.size() > most_lines) newest.pop_front();
  };
  lines.feed(text, keep);
  lines.finish(keep);
  for (auto at = newest.rbegin(); at != newest.rend(); ++at) {
    std::string words = printable_line(at->line, longest_words);
    if (has_word(words) && !is_chatter(matcher, at->line)) {
      return LastWords{std::move(words), at->line_number};
    }
  }
  return std::nullopt;
}

}  // namespace trainward::rules
