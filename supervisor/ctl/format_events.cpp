#include "supervisor/ctl/format.hpp"

namespace trainward::ctl {

std::string format_events(const json::array& rows, const Style& style) {
  Table table({{""}, {""}, {""}, {""}});
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const std::string program = string_or(row, "program", "");
    const std::int64_t attempt = int_or(row, "attempt", 0);
    std::string who = program.empty() ? "trainwardd" : program;
    if (attempt > 0) who += fmt::format(" #{}", attempt);
    table.add({Cell(string_or(row, "at", "-"), Colour::dim), std::move(who),
               string_or(row, "kind", "-"), string_or(row, "text", "")});
  }
  return table.text(style);
}

}  // namespace trainward::ctl
