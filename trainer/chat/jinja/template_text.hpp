// Text that knows where each of its bytes comes from: the template, or people; and whether it was
// written inside {% generation %}. Every operation of the engine is made of slices and appends, so
// what a person wrote stays marked however a template cuts, trims and joins it.
//
// In: bytes of UTF-8 with a mark. A value, no errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::trainer::jinja {

using Mark = std::uint8_t;  // any of these together
inline constexpr Mark of_template = 0;
inline constexpr Mark of_people = 1;
inline constexpr Mark generated = 2;

class Text {
 public:
  struct Run {
    std::size_t end = 0;
    Mark mark = of_template;
  };

  Text() = default;
  explicit Text(std::string_view bytes, Mark mark = of_template) { append(bytes, mark); }

  std::string_view bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  // In order, none empty, no two neighbours alike; the last ends where the text does.
  const std::vector<Run>& runs() const { return runs_; }

  // Of the byte at `position`; of_template at the end of the text.
  Mark mark_at(std::size_t position) const;
  Text slice(std::size_t begin, std::size_t end) const;
  void append(std::string_view bytes, Mark mark);
  // `added` is put on top of the marks that `text` has.
  void append(const Text& text, Mark added = of_template);

 private:
  std::string bytes_;
  std::vector<Run> runs_;
};

}  // namespace trainward::trainer::jinja
