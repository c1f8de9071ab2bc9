#include "common/base/shell_words.hpp"

namespace trainward {
namespace {

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  Result<ShellWords> split() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        if (c == '\n') obeys(c);
        end_word();
        continue;
      }
      if (auto ok = take(c); !ok) return propagate(ok);
    }
    end_word();
    return std::move(out_);
  }

 private:
  Status take(char c) {
    const bool first = !in_word_;
    in_word_ = true;
    if (c == '\'') return take_single();
    if (c == '"') return take_double();
    if (c == '\\') {
      if (at_ == text_.size()) return fail(ErrorKind::usage, "ends with a backslash");
      word_ += text_[at_++];
      return {};
    }
    constexpr std::string_view everywhere = "|&;<>()$`*?[";
    if (everywhere.find(c) != std::string_view::npos || (first && (c == '~' || c == '#'))) obeys(c);
    word_ += c;
    return {};
  }

  Status take_single() {
    const auto end = text_.find('\'', at_);
    if (end == std::string_view::npos) return open_quote('\'');
    word_ += text_.substr(at_, end - at_);
    at_ = end + 1;
    return {};
  }

  Status take_double() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return {};
      constexpr std::string_view escaped = "\"\\$`";
      if (c == '\\' && at_ < text_.size() && escaped.find(text_[at_]) != std::string_view::npos) {
        word_ += text_[at_++];
        continue;
      }
      if (c == '$' || c == '`') obeys(c);
      word_ += c;
    }
    return open_quote('"');
  }

  static tl::unexpected<Error> open_quote(char quote) {
    return fail(ErrorKind::usage, std::string("a ") + quote + " that is never closed");
  }

  void obeys(char c) {
    if (out_.obeyed == 0) out_.obeyed = c;
  }

  void end_word() {
    if (in_word_) out_.words.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool in_word_ = false;
  std::string word_;
  ShellWords out_;
};

}  // namespace

Result<ShellWords> split_words(std::string_view text) { return Splitter(text).split(); }

}  // namespace trainward
