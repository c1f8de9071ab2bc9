#include "trainer/data/json_rows.hpp"

#include <algorithm>

#include "trainer/data/text/byte_order_mark.hpp"

namespace trainward::trainer {
namespace {

constexpr std::string_view spaces = " \t\r\n";

}  // namespace

bool is_json_array(std::string_view beginning) {
  beginning = without_byte_order_mark(beginning);
  const std::size_t first = beginning.find_first_not_of(spaces);
  return first != std::string_view::npos && beginning[first] == '[';
}

void JsonRows::pass_spaces() { at_ = std::min(file_.find_first_not_of(spaces, at_), file_.size()); }

tl::unexpected<Error> JsonRows::broken(std::string_view why) {
  done_ = true;
  return fail(ErrorKind::corrupt, fmt::format("is not one JSON array: {} at byte {}", why, at_));
}

// The position of the next ',' or ']' outside brackets and strings, or the end of the file.
std::size_t JsonRows::end_of_element() const {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = at_; i < file_.size(); ++i) {
    const char c = file_[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (depth == 0 && (c == ',' || c == ']')) {
      return i;
    } else if (c == '}' || c == ']') {
      depth -= depth > 0 ? 1 : 0;
    }
  }
  return file_.size();
}

Result<std::optional<JsonRows::Element>> JsonRows::next() {
  if (done_) return std::optional<Element>();
  if (!begun_) {
    begun_ = true;
    at_ = file_.size() - without_byte_order_mark(file_).size();
    pass_spaces();
    if (at_ == file_.size() || file_[at_] != '[') return broken("there is no '['");
    ++at_;
    pass_spaces();
    if (at_ < file_.size() && file_[at_] == ']') {
      done_ = true;
      return std::optional<Element>();
    }
  }
  pass_spaces();
  const std::size_t end = end_of_element();
  if (end == file_.size()) return broken("the ']' is missing behind the element");
  const Element element{file_.substr(at_, end - at_), ++number_};
  at_ = end + 1;
  if (file_[end] == ']') {
    pass_spaces();
    if (at_ != file_.size()) return broken("there is more behind the ']'");
    done_ = true;
  }
  return std::optional(element);
}

}  // namespace trainward::trainer
