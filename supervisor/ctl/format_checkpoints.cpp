#include <algorithm>

#include "common/text.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {

std::string format_checkpoints(const json::array& rows, std::int64_t now_ms, const Style& style) {
  Table table({{"STEP", Align::right}, {"STATE"}, {"SIZE", Align::right}, {"SAVED"}, {"PATH"}});
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const std::string state = string_or(row, "state", "-");
    const std::int64_t at = int_or(row, "at_ms", 0);
    const std::string reason = string_or(row, "reason", "");
    table.add({fmt::format("{}", int_or(row, "step", 0)),
               Cell(state, state == "-" ? Colour::plain : colour_of(state)),
               human_bytes(
                   static_cast<std::uint64_t>(std::max<std::int64_t>(int_or(row, "bytes", 0), 0))),
               at > 0 ? age(now_ms - at) : "-",
               string_or(row, "path", "-") + (reason.empty() ? "" : " (" + reason + ")")});
  }
  return table.text(style);
}

}  // namespace trainward::ctl
