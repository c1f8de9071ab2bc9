// The elements of a JSON file that is one array, one at a time, as text.
//
// In: the whole file. Out: each element's text, numbered from 1, for parse_json(); only brackets
// and quotes are looked at here, so an invalid element is found only when it is parsed.
// Errors: corrupt, once, where the array is not one: no element is told after that. Pure; memory:
// none of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::trainer {

class JsonRows {
 public:
  struct Element {
    std::string_view text;
    std::int64_t number = 0;
  };

  explicit JsonRows(std::string_view file) : file_(file) {}

  // Nothing behind the last.
  Result<std::optional<Element>> next();
  // Of the file, up to the end of the element that was returned last.
  [[nodiscard]] std::uint64_t bytes_done() const { return at_; }

 private:
  void pass_spaces();
  [[nodiscard]] std::size_t end_of_element() const;
  tl::unexpected<Error> broken(std::string_view why);

  std::string_view file_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
  bool begun_ = false;
  bool done_ = false;
};

// Whether the first thing in it that is no space is a '['.
bool is_json_array(std::string_view beginning);

}  // namespace trainward::trainer
