// history: a row for every attempt.
#include <algorithm>
#include <functional>
#include <set>

#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"
#include "supervisor/decide/view/attempt_view.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

std::string steps_of(const json::object& row) {
  const std::int64_t first = int_or(row, "first_step", 0);
  const std::int64_t last = int_or(row, "last_step", 0);
  if (last == 0) return "-";
  return fmt::format("{}→{}", first, last);
}

std::string format_history(const json::array& rows, std::int64_t now_ms, const Style& style) {
  std::set<std::string> programs;
  for (const json::value& value : rows) {
    if (value.is_object()) programs.insert(string_or(value.get_object(), "program", ""));
  }
  const bool name_programs = programs.size() > 1;
  const bool name_meshes = std::ranges::any_of(rows, [](const json::value& value) {
    return value.is_object() && !string_or(value.get_object(), "mesh", "").empty();
  });

  std::vector<Table::Column> columns;
  if (name_programs) columns.push_back({"PROGRAM"});
  columns.insert(columns.end(),
                 {{"ATTEMPT", Align::right}, {"STARTED"}, {"TOOK", Align::right}, {"BOARD"}});
  if (name_meshes) columns.push_back({"MESH"});
  columns.insert(columns.end(), {{"STEPS", Align::right},
                                 {"KEPT", Align::right},
                                 {"LOST", Align::right},
                                 {"EXIT"},
                                 {"CAUSE"},
                                 {"VERDICT"}});
  // Where all began from checkpoints there is nothing to say.
  const bool name_sources = std::any_of(rows.begin(), rows.end(), [](const json::value& row) {
    return row.is_object() && string_or(row.get_object(), "source", "") == "memory";
  });
  if (name_sources) columns.insert(columns.end() - 6, {"FROM"});
  Table table(std::move(columns));
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const auto started = wall_ms_of(string_or(row, "started_at", ""));
    const auto took = get_number(row, "duration_s");
    const std::string cause = string_or(row, "cause", "");
    std::string took_text = "-";
    if (took) {
      took_text = human_seconds(*took);
    } else if (started) {
      took_text = human_seconds(static_cast<double>(now_ms - *started) / 1000);
    }
    std::vector<Cell> cells;
    if (name_programs) cells.emplace_back(string_or(row, "program", "-"));
    cells.emplace_back(fmt::format("{}", int_or(row, "attempt", 0)));
    cells.emplace_back(started ? age(now_ms - *started) : "-");
    cells.emplace_back(std::move(took_text));
    cells.emplace_back(views::short_boards(row));
    if (name_meshes) cells.emplace_back(or_dash(string_or(row, "mesh", "")));
    if (name_sources) cells.emplace_back(or_dash(string_or(row, "source", "")));
    cells.emplace_back(steps_of(row));
    cells.emplace_back(count_or_dash(row, "steps_kept"));
    cells.emplace_back(count_or_dash(row, "steps_lost"));
    cells.emplace_back(or_dash(string_or(row, "exit", "")));
    if (took) {
      cells.emplace_back(or_dash(cause), cause.empty() ? Colour::plain : colour_of(cause));
    } else {
      cells.emplace_back("running", Colour::green);
    }
    cells.emplace_back(string_or(row, "verdict", ""));
    table.add(std::move(cells));
  }
  return table.text(style);
}

struct HistoryRequest {
  std::string program;    // empty: all
  std::size_t limit = 0;  // the newest; 0: all
};

int show_history(const Context& context, const HistoryRequest& request) {
  const std::string& program = request.program;
  auto rows = as_array(ask(context, target_of(program, "history"), [&](const store::Store& store) {
    return of_program(store, program, store.history_json(program));
  }));
  if (rows && request.limit > 0 && rows->size() > request.limit) {
    const auto begun = [](const json::value& row) {
      return string_or(row.get_object(), "started_at", "");
    };
    // They come program by program; the newest are those that began last.
    std::vector<std::string> begins;
    for (const json::value& row : *rows) begins.push_back(begun(row));
    std::sort(begins.begin(), begins.end(), std::greater<>());
    const std::string oldest = begins[request.limit - 1];
    rows->erase(std::remove_if(rows->begin(), rows->end(),
                               [&](const json::value& row) { return begun(row) < oldest; }),
                rows->end());
  }
  return print_rows(context, rows, "No attempts yet", [&](const json::array& found) {
    return format_history(found, context.terminal.now.wall.ms, context.style());
  });
}

}  // namespace

void add_history(Cli& cli) {
  auto& request = cli.keep<HistoryRequest>();
  const Verb verb = cli.verb("history", "a row for every attempt");
  verb.option("NAME", request.program);
  verb.option("-n,--lines", request.limit, "only the newest (all)").positive();
  cli.on(verb, request, show_history);
}

}  // namespace trainward::ctl
