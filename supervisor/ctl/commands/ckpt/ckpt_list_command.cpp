// ckpt list: checkpoints on record or in a folder, without reading tensor data.
#include <algorithm>

#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/strict_json.hpp"
#include "checkpoint/retention.hpp"
#include "checkpoint/tools/inspect.hpp"
#include "common/base/text.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/output/output_rows.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"
#include "supervisor/decide/view/attempt_view.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

json::object row_of_checkpoint(const checkpoint::Summary& summary) {
  return {
      {"path", summary.path.string()},   {"step", summary.step},
      {"bytes", summary.bytes},          {"state", "-"},  // listing reads no tensor: verify does
      {"tokens", summary.tokens},        {"loss", checkpoint::json_number(summary.loss)},
      {"at_ms", summary.created_wall_ms}};
}

// One without a readable manifest is damaged; of the others only `ckpt verify` knows.
Answer<json::array> in_folder(const std::string& folder) {
  auto readable = checkpoint::list(folder);
  if (!readable) return tl::unexpected<Failure>({exit_status::failed, std::move(readable).error()});
  auto all = checkpoint::step_folders(folder);
  if (!all) return tl::unexpected<Failure>({exit_status::failed, std::move(all).error()});
  json::array rows;
  auto next = readable->begin();
  for (const fs::path& path : *all) {
    if (next != readable->end() && next->path == path) {
      rows.push_back(row_of_checkpoint(*next++));
      continue;
    }
    rows.push_back({{"path", path.string()},
                    {"step", checkpoint::step_from_name(path.filename().string()).value_or(0)},
                    {"bytes", 0},
                    {"state", "corrupt"},
                    {"reason", "no readable manifest; ckpt verify says more"}});
  }
  return rows;
}

// What the disk knows and the record does not.
void add_marks(json::array& rows) {
  for (json::value& row : rows) {
    if (!row.is_object()) continue;
    const fs::path path = string_or(row.get_object(), "path", "");
    row.get_object()["pinned"] = checkpoint::is_pinned(path);
    row.get_object()["pin_reason"] = checkpoint::pinned_because(path);
    row.get_object()["latest"] = checkpoint::is_latest(path);
  }
}

// "latest, pinned"; empty for most.
std::string marks_of(const json::object& row) {
  std::string marks = bool_or(row, "latest", false) ? "latest" : "";
  if (bool_or(row, "pinned", false)) marks += marks.empty() ? "pinned" : ", pinned";
  return marks;
}

std::string format_checkpoints(const json::array& rows, std::int64_t now_ms, const Style& style) {
  const bool any_mark = std::any_of(rows.begin(), rows.end(), [](const json::value& row) {
    return row.is_object() && !marks_of(row.get_object()).empty();
  });
  std::vector<Table::Column> columns{
      {"STEP", Align::right}, {"STATE"}, {"SIZE", Align::right}, {"SAVED"}, {"PATH"}};
  if (any_mark) columns.insert(columns.end() - 1, {"MARK"});
  Table table(std::move(columns));
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const std::string state = string_or(row, "state", "-");
    const std::int64_t at = int_or(row, "at_ms", 0);
    std::string about = string_or(row, "reason", "");
    if (const std::string pin = string_or(row, "pin_reason", ""); !pin.empty()) {
      about += (about.empty() ? "kept: " : "; kept: ") + pin;
    }
    std::vector<Cell> cells{
        fmt::format("{}", int_or(row, "step", 0)),
        Cell(state, state == "-" ? Colour::plain : colour_of(state)),
        human_bytes(size_or(row, "bytes")), at > 0 ? age(now_ms - at) : "-",
        string_or(row, "path", "-") + (about.empty() ? "" : " (" + about + ")")};
    if (any_mark) cells.insert(cells.end() - 1, Cell(marks_of(row)));
    table.add(std::move(cells));
  }
  return table.text(style);
}

// What no checkpoint shows: the newest attempt may have begun beyond all of them.
std::string newest_beginning(const Context& context, const std::string& program) {
  auto rows = as_array(ask(context, target_of(program, "history"), [&](const store::Store& store) {
    return of_program(store, program, store.history_json(program));
  }));
  if (!rows || rows->empty() || !rows->back().is_object()) return {};
  const json::object& attempt = rows->back().get_object();
  if (string_or(attempt, "source", "") != "memory") return {};
  return fmt::format("Attempt {} began {}.\n", int_or(attempt, "attempt", 0),
                     views::source_words(attempt));
}

int list_checkpoints(const Context& context, const std::string& name_or_folder) {
  const bool folder = !name_or_folder.empty() && names_a_folder(name_or_folder);
  auto rows = folder ? in_folder(name_or_folder) : checkpoints_on_record(context, name_or_folder);
  if (rows) add_marks(*rows);
  return print_rows(context, rows, "No checkpoints", [&](const json::array& found) {
    std::string text = format_checkpoints(found, context.terminal.now.wall.ms, context.style());
    if (!folder && !name_or_folder.empty()) text += newest_beginning(context, name_or_folder);
    return text;
  });
}

}  // namespace

void add_ckpt_list(Cli& cli) {
  auto& name_or_folder = cli.keep<std::string>();
  const Verb verb = cli.verb("ckpt list", "checkpoints on record, or in a folder");
  verb.option("NAME_OR_DIR", name_or_folder);
  cli.on(verb, name_or_folder, list_checkpoints);
}

}  // namespace trainward::ctl
