#include <algorithm>

#include "supervisor/core/shown.hpp"
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/words.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::ctl {
namespace {

// What the daemon as a whole suffers from; it is known only when it answers. Said once, and not of
// each program again.
void print_troubles(const Context& context, json::array& rows) {
  const auto answer = as_object(call(context, Method::get, "/v1/version"));
  if (!answer) return;
  for (const std::string& trouble : texts_in(*answer, "trouble")) {
    context.terminal.err << "trainwardd: " << clean(trouble) << '\n';
    for (json::value& row : rows) {
      if (row.is_object() && string_or(row.get_object(), "trouble", "") == trouble) {
        row.get_object().erase("trouble");
      }
    }
  }
}

}  // namespace

int status(const Context& context, const Names& names) {
  bool from_daemon = true;
  auto rows =
      as_array(ask(context, "/v1/programs", [&](const store::Store& store) -> Result<json::value> {
        from_daemon = false;
        // Uptimes as of the last record: nobody watched since.
        return store.status_json(Time{store.newest_ms().value_or(0), 0});
      }));
  if (!rows) {
    finish(context, rows.error());
    return exit_status::unreachable;
  }
  if (from_daemon && !context.settings.json) print_troubles(context, *rows);
  const bool all = names.empty() || std::find(names.begin(), names.end(), "all") != names.end();
  json::array shown;
  std::string unknown;
  if (all) {
    shown = *rows;
  } else {
    for (const std::string& name : names) {
      const auto found = std::find_if(rows->begin(), rows->end(), [&](const json::value& row) {
        return string_or(row.get_object(), "name", "") == name;
      });
      if (found != rows->end()) {
        shown.push_back(*found);
      } else {
        unknown += clean(name) + ": ERROR (no such process)\n";
      }
    }
  }
  if (context.settings.json) {
    context.print_json(shown);
    context.terminal.err << unknown;
  } else {
    context.terminal.out << format_status(shown, {context.terminal.colour, context.terminal.width})
                         << unknown;
  }
  for (const json::value& row : shown) {
    if (core::facts(core::shown_from(string_or(row.get_object(), "state", ""))).down) {
      return exit_status::not_all_running;
    }
  }
  return unknown.empty() ? exit_status::ok : exit_status::unreachable;
}

}  // namespace trainward::ctl
