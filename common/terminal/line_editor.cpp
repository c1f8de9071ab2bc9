#include "common/terminal/line_editor.hpp"

#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/terminal/display_text.hpp"
#include "common/terminal/edited_line.hpp"
#include "common/terminal/raw_mode.hpp"

namespace trainward {
namespace {

constexpr std::size_t most_history = 1000;

std::string last_word(const std::string& typed) { return typed.substr(typed.rfind(' ') + 1); }

std::vector<std::string> beginning_with(const std::string& typed,
                                        const std::vector<std::string>& words) {
  std::vector<std::string> found;
  std::copy_if(words.begin(), words.end(), std::back_inserter(found),
               [&](const std::string& word) { return word.starts_with(typed); });
  return found;
}

}  // namespace

std::string common_rest(const std::string& typed, const std::vector<std::string>& words) {
  const auto found = beginning_with(typed, words);
  if (found.empty()) return {};
  std::string common = found.front();
  for (const std::string& word : found) {
    const auto [end, other] = std::mismatch(common.begin(), common.end(), word.begin(), word.end());
    common.erase(end, common.end());
  }
  return common.substr(typed.size()) + (found.size() == 1 ? " " : "");
}

// Bytes come as they are typed, and none of them is a signal.
class LineEditor::RawMode {
 public:
  explicit RawMode(int fd) : fd_(fd), changed_(::tcgetattr(fd, &before_) == 0) {
    if (!changed_) return;
    const termios raw = raw_mode_of(before_);
    ::tcsetattr(fd, TCSADRAIN, &raw);
  }
  ~RawMode() {
    if (changed_) ::tcsetattr(fd_, TCSADRAIN, &before_);
  }
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;

 private:
  int fd_;
  termios before_{};
  bool changed_;
};

LineEditor::LineEditor(int in, int out, Complete complete)
    : in_(in), out_(out), complete_(std::move(complete)) {}

void LineEditor::write(const std::string& text) const {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(out_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

// What Tab adds; where it adds nothing, the words to choose from are shown.
std::string LineEditor::completion(const std::string& typed) const {
  if (!complete_) return {};
  const std::string word = last_word(typed);
  const auto words = complete_(typed);
  std::string rest = common_rest(word, words);
  if (rest.empty()) show(beginning_with(word, words));
  return rest;
}

void LineEditor::show(const std::vector<std::string>& words) const {
  if (words.empty()) return;
  std::string text = "\n";
  for (const std::string& word : words) text += clean(word) + "  ";
  write(text + "\n");
}

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  const RawMode raw(in_);
  EditedLine line(history_);
  for (;;) {
    write(line.drawn(prompt, terminal_width(out_)));
    char byte = 0;
    const ssize_t got = ::read(in_, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    switch (line.take(byte)) {
      case EditedLine::Then::go_on:
        break;
      case EditedLine::Then::accept:
        write("\n");
        return line.text();
      case EditedLine::Then::give_up:
        write("^C\n");
        line = EditedLine(history_);
        break;
      case EditedLine::Then::end:
        write("\n");
        return std::nullopt;
      case EditedLine::Then::complete:
        line.insert(completion(line.before_cursor()));
        break;
      case EditedLine::Then::clear:
        write("\x1b[H\x1b[2J");
        break;
    }
  }
}

void LineEditor::remember(const std::string& line) {
  if (line.empty() || (!history_.empty() && history_.back() == line)) return;
  history_.push_back(line);
  if (history_.size() > most_history) history_.erase(history_.begin());
}

}  // namespace trainward
