#include <algorithm>

#include "common/text.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

std::uint64_t bytes_of(const json::object& object) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(int_or(object, "bytes", 0), 0));
}

const json::array& array_or_empty(const json::object& object, std::string_view key) {
  static const json::array empty;
  const json::value* value = object.if_contains(json::string_view(key.data(), key.size()));
  return value != nullptr && value->is_array() ? value->get_array() : empty;
}

std::string or_dash(std::string text) { return text.empty() ? "-" : std::move(text); }

// Enough of it to tell keys apart.
std::string short_key(const json::object& row) {
  return or_dash(string_or(row, "key", "").substr(0, 12));
}

}  // namespace

std::string format_cache(const json::object& cache, std::int64_t now_ms, const Style& style) {
  const json::array& programs = array_or_empty(cache, "programs");
  Table table({{"PROGRAM"},
               {"SIZE", Align::right},
               {"LAST USED"},
               {"PLATFORM"},
               {"PLUGIN"},
               {"KEY"},
               {"STATE"}});
  for (const json::value& value : programs) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const auto used = wall_ms_of(string_or(row, "used_at", ""));
    const std::string problem = string_or(row, "problem", "");
    table.add({or_dash(string_or(row, "name", "")), human_bytes(bytes_of(row)),
               used ? age(now_ms - *used) : "-", or_dash(string_or(row, "platform", "")),
               or_dash(string_or(row, "plugin", "")), short_key(row),
               Cell(problem.empty() ? "-" : "DAMAGED: " + problem,
                    problem.empty() ? Colour::plain : Colour::red)});
  }
  std::string text = programs.empty() ? "" : table.text(style) + "\n";
  for (const json::value& value : array_or_empty(cache, "plugins")) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    text += fmt::format("plugin {} ({}): {}\n", clean(or_dash(string_or(row, "about", ""))),
                        clean(short_key(row)),
                        bool_or(row, "loads", false)
                            ? "loads what it has compiled"
                            : "cannot load what it has compiled, so nothing of it is cached");
  }
  if (programs.empty()) return text + "Nothing is cached\n";
  return text + fmt::format("{}, {}, in {}\n",
                            count(static_cast<std::int64_t>(programs.size()), "program"),
                            human_bytes(bytes_of(cache)), clean(string_or(cache, "path", "-")));
}

}  // namespace trainward::ctl
