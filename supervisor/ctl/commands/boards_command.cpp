// boards: the newest look at each board and what it measured last; the samples of one board.
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"
#include "supervisor/decide/view/board_view.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

struct BoardsRequest {
  std::string serial;  // empty: all of them
  int limit = 100;     // samples
  bool release = false;
};

std::string measured_text(const json::object& row, std::string_view key, std::string_view unit) {
  const auto number = get_number(row, key);
  return number ? fmt::format("{:.0f} {}", *number, unit) : "-";
}

Cell temperature(const json::object& row) {
  const auto now = get_number(row, "temperature_c");
  const double limit = number_or(row, "limit_c", 75);
  const auto colour = now && *now >= limit ? Colour::red : Colour::plain;
  return {measured_text(row, "temperature_c", "°C"), colour};
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
  cells.emplace_back(measured_text(row, "power_w", "W"));
  cells.emplace_back(measured_text(row, "clock_mhz", "MHz"));
  cells.emplace_back(beat ? fmt::format("{}", *beat) : "-");
  cells.emplace_back(errors_text(row));
}

std::string format_boards(const json::array& rows, std::int64_t now_ms, const Style& style) {
  std::vector<Table::Column> columns{{"BOARD"}, {"TYPE"}, {"BUS"}, {"VERDICT"}, {"SEEN"}};
  for (Table::Column& column : measured()) columns.push_back(std::move(column));
  columns.insert(columns.end(), {{"MEASURED"}, {"REASON"}});
  Table table(std::move(columns));
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    views::BoardStanding standing = views::standing_of(row, now_ms);
    const std::int64_t sampled = int_or(row, "sampled_ms", 0);
    std::vector<Cell> cells{string_or(row, "serial", "-"), or_dash(string_or(row, "type", "")),
                            or_dash(string_or(row, "bus_id", "")),
                            Cell(standing.verdict, colour_of(standing.verdict)),
                            age(now_ms - int_or(row, "at_ms", now_ms))};
    add_measured(row, cells);
    cells.emplace_back(sampled > 0 ? age(now_ms - sampled) : "-");
    cells.emplace_back(std::move(standing.reason));
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

int show_samples(const Context& context, const BoardsRequest& request) {
  const std::string target =
      fmt::format("/v1/boards/{}/samples?limit={}", percent_encoded(request.serial), request.limit);
  const auto rows =
      as_array(ask(context, target, [&](const store::Store& store) -> Result<json::value> {
        return store.board_samples_json(request.serial, -1, request.limit);
      }));
  return print_rows(context, rows,
                    "No samples yet: they are taken while a program runs on the board",
                    [&](const json::array& found) {
                      return format_samples(found, context.terminal.now.wall.ms, context.style());
                    });
}

int release(const Context& context, const BoardsRequest& request) {
  const std::string target = fmt::format("/v1/boards/{}/release", percent_encoded(request.serial));
  const auto released = as_object(call(context, Method::post, target));
  return print_document(context, released, [](const json::object& answer) {
    return clean(string_or(answer, "message", "")) + "\n";
  });
}

int show_boards(const Context& context, const BoardsRequest& request) {
  if (request.release) return release(context, request);
  if (!request.serial.empty()) return show_samples(context, request);
  const auto rows =
      as_array(ask(context, "/v1/boards", [](const store::Store& store) -> Result<json::value> {
        return store.boards_json();
      }));
  return print_rows(context, rows, "No board has been looked at yet",
                    [&](const json::array& found) {
                      return format_boards(found, context.terminal.now.wall.ms, context.style());
                    });
}

}  // namespace

void add_boards(Cli& cli) {
  auto& request = cli.keep<BoardsRequest>();
  const Verb verb = cli.verb("boards", "boards on record, and what they measured");
  verb.option("SERIAL", request.serial, "the samples of this one");
  verb.option("-n,--lines", request.limit, "how many samples (100)").range(1, 10000);
  verb.flag("--release", request.release, "end its quarantine, and forget its faults");
  cli.on(verb, request, show_boards, [&request] {
    return request.release && request.serial.empty() ? "--release takes the serial of a board" : "";
  });
}

}  // namespace trainward::ctl
