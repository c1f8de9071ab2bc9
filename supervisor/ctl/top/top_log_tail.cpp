#include "supervisor/ctl/top/top_log_tail.hpp"

#include "common/base/escape_sequence.hpp"

namespace trainward::ctl::top {
namespace {

constexpr std::size_t most_kept_lines = 2'000;
constexpr std::size_t longest_line = 4'096;  // bytes; what is behind them is left out

}  // namespace

std::string printed_line(std::string_view raw) {
  while (raw.ends_with('\r')) raw.remove_suffix(1);
  if (const std::size_t over = raw.rfind('\r'); over != std::string_view::npos) {
    raw.remove_prefix(over + 1);
  }
  std::string text;
  while (!raw.empty() && text.size() < longest_line) {
    if (raw.front() == '\x1b') {
      raw.remove_prefix(escape_sequence_length(raw));
      continue;
    }
    if (raw.front() == '\t') {
      text += "    ";
    } else {
      text += raw.front();
    }
    raw.remove_prefix(1);
  }
  return text;
}

void LogTail::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    // A bar without end: only what it shows now is of use.
    if (begun_.size() + piece.size() > 16 * longest_line) begun_.clear();
    begun_ += piece.substr(piece.size() > 16 * longest_line ? piece.size() - longest_line : 0);
    if (end == std::string_view::npos) return;
    lines_.push_back(printed_line(begun_));
    begun_.clear();
    if (lines_.size() > most_kept_lines) lines_.pop_front();
    bytes.remove_prefix(end + 1);
  }
}

void LogTail::clear() {
  lines_.clear();
  begun_.clear();
}

std::vector<std::string> LogTail::lines() const {
  std::vector<std::string> lines(lines_.begin(), lines_.end());
  if (!begun_.empty()) lines.push_back(printed_line(begun_));
  return lines;
}

}  // namespace trainward::ctl::top
