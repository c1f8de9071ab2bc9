// ckpt list, ckpt show: what there is, without reading tensor data.
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/retention.hpp"
#include "checkpoint/tools/inspect.hpp"
#include "supervisor/ctl/checkpoint_place.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/json_of_checkpoints.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;

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
      rows.push_back(json_of(*next++));
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
    row.get_object()["latest"] = checkpoint::is_latest(path);
  }
}

}  // namespace

int list_checkpoints(const Context& context, const std::string& name_or_folder) {
  auto rows = !name_or_folder.empty() && names_a_folder(name_or_folder)
                  ? in_folder(name_or_folder)
                  : checkpoints_on_record(context, name_or_folder);
  if (!rows) return finish(context, rows.error());
  add_marks(*rows);
  if (context.settings.json) {
    context.print_json(*rows);
  } else if (rows->empty()) {
    context.terminal.out << "No checkpoints\n";
  } else {
    context.terminal.out << format_checkpoints(*rows, context.terminal.now.wall_ms,
                                               {context.terminal.colour, context.terminal.width});
  }
  return exit_status::ok;
}

int show_checkpoint(const Context& context, const std::string& place, bool with_tensors) {
  const auto folder = one_checkpoint_of(context, place);
  if (!folder) return finish(context, folder.error());
  auto found = checkpoint::inspect(*folder);
  if (!found) return finish(context, {exit_status::failed, std::move(found).error()});
  const json::object document = json_of(*found, with_tensors);
  if (context.settings.json) {
    context.print_json(document);
  } else {
    context.terminal.out << format_checkpoint(document, context.terminal.now.wall_ms,
                                              {context.terminal.colour, context.terminal.width});
  }
  return exit_status::ok;
}

}  // namespace trainward::ctl
