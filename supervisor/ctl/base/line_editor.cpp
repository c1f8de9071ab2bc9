#include "supervisor/ctl/base/line_editor.hpp"

#include <histedit.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>

#include "common/terminal/display_text.hpp"

namespace trainward::ctl {
namespace {

constexpr int most_history = 1000;

struct CloseFile {
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): this is its owner
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

File stream_of(int fd, const char* mode) { return File(::fdopen(::dup(fd), mode)); }

std::vector<std::string> beginning_with(const std::string& typed,
                                        const std::vector<std::string>& words) {
  std::vector<std::string> found;
  std::ranges::copy_if(words, std::back_inserter(found),
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

struct LineEditor::Impl {
  File in, out;
  Complete complete;
  std::string prompt = {};
  std::string newest = {};  // in the history
  EditLine* line = nullptr;
  History* history = nullptr;

  static Impl& of(EditLine* line) {
    void* self = nullptr;
    ::el_get(line, EL_CLIENTDATA, &self);
    return *static_cast<Impl*>(self);
  }

  // What Tab adds; where it adds nothing, the words to choose from are shown.
  static unsigned char add_word(EditLine* line, int /*key*/) {
    const Impl& self = of(line);
    const LineInfo* info = ::el_line(line);
    const std::string typed(info->buffer, info->cursor);
    const std::string word = typed.substr(typed.rfind(' ') + 1);
    const auto words = self.complete ? self.complete(typed) : std::vector<std::string>();
    const std::string rest = common_rest(word, words);
    if (!rest.empty()) return ::el_insertstr(line, rest.c_str()) < 0 ? CC_ERROR : CC_REFRESH;
    const auto found = beginning_with(word, words);
    if (found.empty()) return CC_ERROR;
    std::string text = "\n";
    for (const std::string& one : found) text += clean(one) + "  ";
    std::fputs((text + "\n").c_str(), self.out.get());
    return CC_REDISPLAY;
  }

  static unsigned char give_up(EditLine* line, int /*key*/) {
    const LineInfo* info = ::el_line(line);
    ::el_cursor(line, static_cast<int>(info->lastchar - info->cursor));
    ::el_deletestr(line, static_cast<int>(info->lastchar - info->buffer));
    std::fputs("^C\n", of(line).out.get());
    return CC_REDISPLAY;
  }
};

LineEditor::LineEditor(int in, int out, Complete complete)
    : impl_(std::make_unique<Impl>(Impl{
          .in = stream_of(in, "r"), .out = stream_of(out, "w"), .complete = std::move(complete)})) {
  // How many columns a character takes is the locale's to say. No other thread runs yet.
  std::setlocale(LC_CTYPE, "");  // NOLINT(concurrency-mt-unsafe)
  impl_->line = ::el_init("trainwardctl", impl_->in.get(), impl_->out.get(), stderr);
  impl_->history = ::history_init();
  EditLine* line = impl_->line;
  HistEvent event{};
  ::history(impl_->history, &event, H_SETSIZE, most_history);
  ::el_set(line, EL_CLIENTDATA, impl_.get());
  ::el_set(
      line, EL_PROMPT, +[](EditLine* of) { return Impl::of(of).prompt.data(); });
  ::el_set(line, EL_EDITOR, "emacs");
  ::el_set(line, EL_HIST, ::history, impl_->history);
  ::el_set(line, EL_ADDFN, "add-word", "completes a word", &Impl::add_word);
  ::el_set(line, EL_ADDFN, "give-up", "begins a new line", &Impl::give_up);
  // No key is a signal while a line is typed.
  ::el_set(line, EL_SETTY, "-d", "-isig", nullptr);
  for (const auto& [key, function] : {std::pair("^I", "add-word"),
                                      {"^C", "give-up"},
                                      {"^R", "em-inc-search-prev"},
                                      {"^W", "ed-delete-prev-word"},
                                      {"\033[3~", "ed-delete-next-char"}}) {
    ::el_set(line, EL_BIND, key, function, nullptr);
  }
}

LineEditor::~LineEditor() {
  ::el_end(impl_->line);
  ::history_end(impl_->history);
}

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  impl_->prompt = prompt;
  // Before the prompt is shown: el_gets does it after, and what is typed in between would be the
  // terminal's to edit (^D would arrive as a zero byte, and ^C would discard the line).
  ::el_set(impl_->line, EL_PREP_TERM, 1);
  int length = 0;
  const char* line = ::el_gets(impl_->line, &length);
  if (line == nullptr || length <= 0) return std::nullopt;
  std::string text(line, static_cast<std::size_t>(length));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void LineEditor::remember(const std::string& line) {
  if (line.empty() || line == impl_->newest) return;
  HistEvent event{};
  ::history(impl_->history, &event, H_ENTER, line.c_str());
  impl_->newest = line;
}

}  // namespace trainward::ctl
