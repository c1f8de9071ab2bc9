#include "trainer/tokenizer/text/normal_form.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "trainer/tokenizer/text/changed_text.hpp"
#include "trainer/tokenizer/text/tokenizer_utf8.hpp"

namespace trainward::trainer {
namespace {

// No character becomes more than 18.
constexpr std::size_t most_parts = 32;

// Chapter 3.12 of the standard.
namespace hangul {
constexpr char32_t l_base = 0x1100;
constexpr char32_t v_base = 0x1161;
constexpr char32_t t_base = 0x11A7;  // one before the first trailing consonant
constexpr char32_t s_base = 0xAC00;
constexpr char32_t l_count = 19;
constexpr char32_t v_count = 21;
constexpr char32_t t_count = 28;
constexpr char32_t last_jamo = 0x11FF;
}  // namespace hangul

std::optional<char32_t> composed_hangul(char32_t first, char32_t second) {
  using namespace hangul;
  if (first >= l_base && first < l_base + l_count && second >= v_base &&
      second < v_base + v_count) {
    return s_base + ((first - l_base) * v_count + (second - v_base)) * t_count;
  }
  const bool open = first >= s_base && first < s_base + l_count * v_count * t_count &&
                    (first - s_base) % t_count == 0;
  if (open && second > t_base && second < t_base + t_count) return first + (second - t_base);
  return std::nullopt;
}

// The primary composite of the two, if there is one.
std::optional<char32_t> composed(char32_t first, char32_t second) {
  constexpr char32_t first_that_follows = 0x300;
  if (second < first_that_follows) return std::nullopt;
  // Done here: utf8proc 2.8, for one, takes U+11A7 for a trailing consonant and loses it.
  if (second >= hangul::l_base && second <= hangul::last_jamo) {
    return composed_hangul(first, second);
  }
  std::array<utf8proc_int32_t, 2> pair{static_cast<utf8proc_int32_t>(first),
                                       static_cast<utf8proc_int32_t>(second)};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  if (utf8proc_normalize_utf32(pair.data(), pair.size(), options) != 1) return std::nullopt;
  return static_cast<char32_t>(pair[0]);
}

// Takes characters that have been decomposed, in the order of the text, and writes them in
// canonical order, composed or not.
class Arranger {
 public:
  Arranger(ChangedText& out, bool compose) : out_(out), compose_(compose) {}

  void take(char32_t c) {
    const auto order = static_cast<std::uint8_t>(
        utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class);
    if (order > 0) {
      marks_.push_back({c, order});
      return;
    }
    settle();
    // Two starters only become one when nothing is left between them.
    if (compose_ && starter_ && marks_.empty()) {
      if (const auto both = composed(*starter_, c)) {
        starter_ = both;
        return;
      }
    }
    write();
    starter_ = c;
  }

  // Nothing that follows changes what was taken: it ends the text, or is ASCII, which stands alone.
  void finish() {
    settle();
    write();
  }

 private:
  struct Mark {
    char32_t character;
    std::uint8_t order;  // the canonical combining class
  };

  // Sorts the marks, and puts those that go with the starter into it.
  void settle() {
    if (marks_.empty()) return;
    const auto before = [](const Mark& a, const Mark& b) { return a.order < b.order; };
    if (!std::is_sorted(marks_.begin(), marks_.end(), before)) {
      std::stable_sort(marks_.begin(), marks_.end(), before);
    }
    if (!compose_ || !starter_) return;
    std::size_t left = 0;
    for (const Mark& mark : marks_) {
      // One of the same class in front of it keeps it from the starter.
      const bool reaches = left == 0 || marks_[left - 1].order < mark.order;
      const auto both = reaches ? composed(*starter_, mark.character) : std::nullopt;
      if (both) {
        starter_ = both;
      } else {
        marks_[left++] = mark;
      }
    }
    marks_.resize(left);
  }

  void write() {
    bytes_.clear();
    if (starter_) append_utf8(bytes_, *starter_);
    for (const Mark& mark : marks_) append_utf8(bytes_, mark.character);
    out_.put(bytes_);
    starter_.reset();
    marks_.clear();
  }

  ChangedText& out_;
  bool compose_;
  std::optional<char32_t> starter_;
  std::vector<Mark> marks_;  // after the starter
  std::string bytes_;        // scratch
};

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

}  // namespace

std::string_view normal_form(std::string_view text, NormalForm form, std::string& copy) {
  const bool compose = form == NormalForm::nfc || form == NormalForm::nfkc;
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_STABLE |
                                                      (compatible ? UTF8PROC_COMPAT : 0));
  ChangedText out(text, copy);
  Arranger arranger(out, compose);
  std::array<utf8proc_int32_t, most_parts> parts{};
  for (std::size_t at = 0; at < text.size();) {
    if (is_ascii(text[at])) {
      const std::size_t end = static_cast<std::size_t>(
          std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_ascii) -
          text.begin());
      arranger.finish();
      out.put(text.substr(at, end - 1 - at));
      arranger.take(static_cast<unsigned char>(text[end - 1]));  // a mark may follow it
      at = end;
      continue;
    }
    const char32_t c = utf8_code_point(text.substr(at));
    at += utf8_character(text.substr(at));
    int boundary = 0;  // for grapheme clusters, unused here
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                static_cast<utf8proc_ssize_t>(parts.size()), options, &boundary);
    if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
      arranger.take(c);  // never: the text is valid
      continue;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      arranger.take(static_cast<char32_t>(parts.at(i)));
    }
  }
  arranger.finish();
  return out.text();
}

}  // namespace trainward::trainer
