#include <fmt/format.h>

#include "common/text.hpp"
#include "supervisor/core/cause.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

// "line 12", or where evidence comes from that is no line.
std::string place_of(const json::object& row) {
  const std::int64_t line = int_or(row, "line_number", 0);
  return line > 0 ? "line " + grouped(line) : clean(string_or(row, "rule", "-"));
}

std::string others(const json::array& rows, std::size_t from, const Style& style) {
  Table table({{"", Align::right}, {""}, {""}, {"", Align::right}, {""}});
  for (std::size_t i = from; i < rows.size(); ++i) {
    if (!rows[i].is_object()) continue;
    const json::object& row = rows[i].get_object();
    const std::int64_t count = int_or(row, "count", 1);
    const bool overcome = bool_or(row, "overcome", false);
    table.add({Cell(fmt::format("{}", int_or(row, "weight", 0))), Cell(string_or(row, "class", "")),
               Cell(place_of(row)), Cell(count > 1 ? fmt::format("{}x", grouped(count)) : ""),
               Cell((overcome ? "(training went on) " : "") + string_or(row, "line", ""))});
  }
  return table.text(style, "  ");
}

}  // namespace

std::string format_classified(const json::object& document, const Style& style) {
  const std::string crash_class = clean(string_or(document, "class", "unknown"));
  const bool failed = bool_or(document, "failed", false);
  const core::Cause cause = core::cause_from(crash_class);
  std::string text =
      coloured(fmt::format("{}: {}", crash_class,
                           failed ? core::facts(cause).words : "nothing here says that it failed"),
               Colour::bold, style);
  text += '\n';
  const auto evidence = get_array(document, "evidence");
  if (failed) {
    text += fmt::format("  remedy  {}\n", core::ladder_text(cause));
    if (const std::string advice = clean(string_or(document, "advice", "")); !advice.empty()) {
      text += fmt::format("  advice  {}\n", advice);
    }
    if (evidence && !(*evidence)->empty() && (**evidence)[0].is_object()) {
      const json::object& first = (**evidence)[0].get_object();
      text += fmt::format("  rule    {}\n", clean(string_or(first, "rule", "-")));
      text += fmt::format("  {}: {}\n", place_of(first), clean(string_or(first, "line", "")));
    }
  } else if (const std::string line = clean(string_or(document, "line", "")); !line.empty()) {
    text += fmt::format("  a line that only looks bad: {}\n", line);
  }
  const std::size_t shown = failed ? 1 : 0;
  if (evidence && (*evidence)->size() > shown) {
    text += failed ? "\nFurther evidence, strongest first:\n" : "\nWhat came up on the way:\n";
    text += others(**evidence, shown, style);
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

}  // namespace trainward::ctl
