#include "trainer/chat/jinja/date.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace trainward::trainer::jinja {

Result<std::string> pinned_date(std::string_view format) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 23> codes{
      {{"%a", "Fri"},      {"%A", "Friday"},     {"%b", "Jul"},      {"%B", "July"},
       {"%d", "26"},       {"%-d", "26"},        {"%m", "07"},       {"%-m", "7"},
       {"%y", "24"},       {"%Y", "2024"},       {"%H", "00"},       {"%-H", "0"},
       {"%I", "12"},       {"%M", "00"},         {"%S", "00"},       {"%p", "AM"},
       {"%j", "208"},      {"%F", "2024-07-26"}, {"%T", "00:00:00"}, {"%R", "00:00"},
       {"%D", "07/26/24"}, {"%e", "26"},         {"%%", "%"}}};
  std::string text;
  while (!format.empty()) {
    if (format.front() != '%') {
      text += format.front();
      format.remove_prefix(1);
      continue;
    }
    const auto* const code = std::find_if(
        codes.begin(), codes.end(), [&](const auto& one) { return format.starts_with(one.first); });
    if (code == codes.end()) {
      return fail(ErrorKind::usage,
                  fmt::format("strftime_now with {} is not supported", format.substr(0, 2)));
    }
    text += code->second;
    format.remove_prefix(code->first.size());
  }
  return text;
}

}  // namespace trainward::trainer::jinja
