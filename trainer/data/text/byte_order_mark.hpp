// The three bytes that some editors put before a text in UTF-8.
#pragma once

#include <string_view>

namespace trainward::trainer {

constexpr std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace trainward::trainer
