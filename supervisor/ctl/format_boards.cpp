#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

std::string number_text(const json::object& row, std::string_view key, std::string_view unit) {
  const auto number = get_number(row, key);
  return number ? fmt::format("{:.0f} {}", *number, unit) : "-";
}

Cell temperature(const json::object& row) {
  const auto now = get_number(row, "temperature_c");
  const double limit = number_or(row, "limit_c", 75);
  const auto colour = now && *now >= limit ? Colour::red : Colour::plain;
  return {number_text(row, "temperature_c", "°C"), colour};
}

// All three kinds, for a row of people's: which kind is in the JSON.
std::string errors_text(const json::object& row) {
  bool known = false;
  std::int64_t sum = 0;
  for (const char* key : {"aer_correctable", "aer_nonfatal", "aer_fatal"}) {
    if (const auto number = get_int(row, key)) {
      known = true;
      sum += *number;
    }
  }
  return known ? grouped(sum) : "-";
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::vector<Table::Column> measured() {
  return {{"TEMP", Align::right},
          {"POWER", Align::right},
          {"CLOCK", Align::right},
          {"HEARTBEAT", Align::right},
          {"PCIE ERRORS", Align::right}};
}

void add_measured(const json::object& row, std::vector<Cell>& cells) {
  const auto beat = get_int(row, "heartbeat");
  cells.push_back(temperature(row));
  cells.emplace_back(number_text(row, "power_w", "W"));
  cells.emplace_back(number_text(row, "clock_mhz", "MHz"));
  cells.emplace_back(beat ? fmt::format("{}", *beat) : "-");
  cells.emplace_back(errors_text(row));
}

}  // namespace

std::string format_boards(const json::array& rows, std::int64_t now_ms, const Style& style) {
  std::vector<Table::Column> columns{{"BOARD"}, {"TYPE"}, {"BUS"}, {"VERDICT"}, {"SEEN"}};
  for (Table::Column& column : measured()) columns.push_back(std::move(column));
  columns.insert(columns.end(), {{"MEASURED"}, {"REASON"}});
  Table table(std::move(columns));
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const std::string verdict = string_or(row, "verdict", "-");
    const std::int64_t sampled = int_or(row, "sampled_ms", 0);
    std::vector<Cell> cells{string_or(row, "serial", "-"), or_dash(string_or(row, "type", "")),
                            or_dash(string_or(row, "bus_id", "")),
                            Cell(verdict, colour_of(verdict)),
                            age(now_ms - int_or(row, "at_ms", now_ms))};
    add_measured(row, cells);
    cells.emplace_back(sampled > 0 ? age(now_ms - sampled) : "-");
    cells.emplace_back(string_or(row, "reason", ""));
    table.add(std::move(cells));
  }
  return table.text(style);
}

std::string format_samples(const json::array& rows, std::int64_t now_ms, const Style& style) {
  std::vector<Table::Column> columns{{"MEASURED"}};
  for (Table::Column& column : measured()) columns.push_back(std::move(column));
  columns.insert(columns.end(), {{"ATTEMPT", Align::right}, {"PROGRAM"}});
  Table table(std::move(columns));
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    std::vector<Cell> cells{age(now_ms - int_or(row, "at_ms", now_ms))};
    add_measured(row, cells);
    cells.emplace_back(fmt::format("{}", int_or(row, "attempt", 0)));
    cells.emplace_back(or_dash(string_or(row, "program", "")));
    table.add(std::move(cells));
  }
  return table.text(style);
}

}  // namespace trainward::ctl
