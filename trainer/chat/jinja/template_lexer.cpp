#include "trainer/chat/jinja/template_lexer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "trainer/chat/jinja/characters.hpp"
#include "trainer/chat/jinja/limits.hpp"
#include "trainer/chat/jinja/text_literal.hpp"

namespace trainward::trainer::jinja {
namespace {

constexpr auto npos = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Line ends of every kind become "\n"; the last one goes.
std::string with_plain_line_ends(std::string_view source) {
  std::string plain;
  plain.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      plain += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      plain += source[i];
    }
  }
  if (!plain.empty() && plain.back() == '\n') plain.pop_back();
  return plain;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  Result<std::vector<Token>> run() {
    while (at_ < source_.size()) {
      if (auto ok = next_part(); !ok) return propagate(ok);
    }
    add(TokenKind::end);
    return std::move(tokens_);
  }

 private:
  std::string_view rest(std::size_t from) const { return std::string_view(source_).substr(from); }
  bool ahead(std::string_view text) const { return rest(at_).starts_with(text); }

  void add(TokenKind kind, std::string text = {}) {
    tokens_.push_back({kind, line_, std::move(text), 0, 0});
  }
  void move_to(std::size_t position) {
    line_ +=
        static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                    source_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
    at_ = position;
  }
  tl::unexpected<Error> wrong(std::string what) const {
    return fail(ErrorKind::usage, std::move(what), line_name(line_));
  }

  // Text up to the next tag, and that tag.
  Status next_part() {
    std::size_t tag = at_;
    while ((tag = source_.find('{', tag)) != std::string::npos) {
      const char second = tag + 1 < source_.size() ? source_[tag + 1] : ' ';
      if (second == '%' || second == '{' || second == '#') break;
      ++tag;
    }
    if (tag == std::string::npos) {
      add(TokenKind::data, source_.substr(at_));
      move_to(source_.size());
      return {};
    }
    const char kind = source_[tag + 1];
    const char control = control_at(tag + 2);
    add_data(tag, control, kind != '{');
    move_to(tag + 2 + (control != ' ' ? 1 : 0));
    line_starting_ = false;
    if (kind == '#') return skip_comment();
    if (kind == '%') {
      if (const std::size_t after = raw_tag_end(at_, "raw", false); after != npos) {
        move_to(after);
        line_starting_ = source_[after - 1] == '\n';
        return raw_text();
      }
    }
    add(kind == '%' ? TokenKind::block_begin : TokenKind::print_begin);
    return tag_body(kind == '%');
  }

  char control_at(std::size_t position) const {
    const char c = position < source_.size() ? source_[position] : ' ';
    return c == '-' || c == '+' ? c : ' ';
  }

  // The text before a tag, without what its control sign or lstrip_blocks take from its end.
  void add_data(std::size_t end, char control, bool strips_line) {
    std::string_view data = rest(at_).substr(0, end - at_);
    if (control == '-') {
      data.remove_suffix(space_after(data));
    } else if (control != '+' && strips_line) {
      const std::size_t line_begin = data.rfind('\n') + 1;  // 0 when there is no line end
      const std::string_view last = data.substr(line_begin);
      if ((line_begin > 0 || line_starting_) && space_before(last) == last.size()) {
        data = data.substr(0, line_begin);
      }
    }
    if (!data.empty()) add(TokenKind::data, std::string(data));
  }

  // Where a comment or block tag that ends at `position` ("-%}", "+%}", "%}") is over, with the
  // white space or line end that goes with it; npos when it does not end there.
  std::size_t tag_end(std::size_t position, std::string_view mark, bool trims,
                      bool may_keep) const {
    const char control = control_at(position);
    if (control == '+' && !may_keep) return npos;
    if (control != ' ') ++position;
    if (!rest(position).starts_with(mark)) return npos;
    position += mark.size();
    if (control == '-') return position + space_before(rest(position));
    if (control != '+' && trims && rest(position).starts_with('\n')) ++position;
    return position;
  }

  std::size_t raw_tag_end(std::size_t position, std::string_view name, bool trims) const {
    position += space_before(rest(position));
    if (!rest(position).starts_with(name)) return npos;
    position += name.size();
    position += space_before(rest(position));
    return tag_end(position, "%}", trims, trims);
  }

  Status skip_comment() {
    for (std::size_t i = at_; i < source_.size(); ++i) {
      if (const std::size_t end = tag_end(i, "#}", true, true); end != npos) {
        move_to(end);
        line_starting_ = source_[end - 1] == '\n';
        return {};
      }
    }
    return wrong("a comment {# has no end #}");
  }

  Status raw_text() {
    for (std::size_t i = at_; (i = source_.find("{%", i)) != std::string::npos; ++i) {
      const char control = control_at(i + 2);
      const std::size_t end = raw_tag_end(i + 2 + (control != ' ' ? 1 : 0), "endraw", true);
      if (end == npos) continue;
      add_data(i, control, true);
      move_to(end);
      line_starting_ = source_[end - 1] == '\n';
      return {};
    }
    return wrong("{% raw %} has no {% endraw %}");
  }

  Status tag_body(bool block) {
    std::string open;  // brackets that wait for their end: the tag does not end inside them
    while (true) {
      move_to(at_ + space_before(rest(at_)));
      if (at_ >= source_.size()) return wrong(block ? "{% has no end %}" : "{{ has no end }}");
      if (open.empty()) {
        const std::size_t end = tag_end(at_, block ? "%}" : "}}", block, block);
        if (end != npos) {
          add(block ? TokenKind::block_end : TokenKind::print_end);
          line_starting_ = source_[end - 1] == '\n';
          move_to(end);
          return {};
        }
      }
      if (auto ok = token(open); !ok) return ok;
    }
  }

  Status token(std::string& open) {
    const char c = source_[at_];
    if (is_digit(c)) return number();
    if (is_word(c)) {
      std::size_t end = at_;
      while (end < source_.size() && is_word(source_[end])) ++end;
      add(TokenKind::name, source_.substr(at_, end - at_));
      move_to(end);
      return {};
    }
    if (c == '"' || c == '\'') return text();
    static constexpr std::array<std::string_view, 26> signs = {
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    for (const std::string_view sign : signs) {
      if (!ahead(sign)) continue;
      if (c == '{' || c == '(' || c == '[') open += c == '{' ? '}' : c == '(' ? ')' : ']';
      if (c == '}' || c == ')' || c == ']') {
        if (open.empty() || open.back() != c) return wrong(fmt::format("'{}' ends nothing", c));
        open.pop_back();
      }
      add(TokenKind::sign, std::string(sign));
      move_to(at_ + sign.size());
      return {};
    }
    const std::string_view shown = rest(at_).substr(0, character_bytes(rest(at_)));
    return wrong(fmt::format("'{}' is not part of an expression", shown));
  }

  Status text() {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != source_[at_])
      end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) return wrong("a text has no closing quote");
    auto read = unescaped(rest(at_ + 1).substr(0, end - at_ - 1));
    if (!read) return wrong(read.error().what);
    add(TokenKind::text, std::move(*read));
    move_to(end + 1);
    return {};
  }

  // Digits with single underscores between them.
  std::size_t digits_end(std::size_t position) const {
    while (position < source_.size() &&
           (is_digit(source_[position]) ||
            (source_[position] == '_' && is_digit(source_[position - 1]) &&
             position + 1 < source_.size() && is_digit(source_[position + 1])))) {
      ++position;
    }
    return position;
  }
  bool digit_at(std::size_t position) const {
    return position < source_.size() && is_digit(source_[position]);
  }

  Status number() {
    std::size_t end = digits_end(at_);
    bool real = false;
    // "x.1.2" asks for parts of x: what follows a dot is no fraction.
    if (at_ == 0 || source_[at_ - 1] != '.') {
      if (end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
        real = true;
        end = digits_end(end + 1);
      }
      if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
        const bool has_sign = control_at(end + 1) != ' ';
        if (digit_at(end + 1 + (has_sign ? 1 : 0))) {
          real = true;
          end = digits_end(end + 1 + (has_sign ? 1 : 0));
        }
      }
    }
    std::string digits = source_.substr(at_, end - at_);
    std::erase(digits, '_');
    const bool zero_first = digits.size() > 1 &&
                            digits.find_first_not_of('0') != std::string::npos &&
                            digits.front() == '0' && !real;
    if (zero_first || (end < source_.size() && is_word(source_[end]))) {
      return wrong(fmt::format("the number that starts with {} is not decimal", digits));
    }
    Token token{real ? TokenKind::real : TokenKind::integer, line_, digits, 0, 0};
    const char* const last = digits.data() + digits.size();
    const auto read = real ? std::from_chars(digits.data(), last, token.real)
                           : std::from_chars(digits.data(), last, token.integer);
    if (read.ec != std::errc()) return wrong(fmt::format("the number {} is out of range", digits));
    tokens_.push_back(std::move(token));
    move_to(end);
    return {};
  }

  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;  // nothing of the current line belongs to an earlier tag
  std::vector<Token> tokens_;
};

}  // namespace

std::string line_name(int line) { return fmt::format("line {}", line); }

Result<std::vector<Token>> tokens_of(std::string_view source) {
  if (source.size() > max_template_bytes) {
    return fail(ErrorKind::usage, "the template is larger than 256 KiB");
  }
  return Lexer(with_plain_line_ends(source)).run();
}

}  // namespace trainward::trainer::jinja
