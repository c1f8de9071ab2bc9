// status: of one daemon, or of those of many machines.
#include <algorithm>
#include <cstdint>
#include <string>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/base/status_lines.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/fleet/ask.hpp"
#include "supervisor/ctl/fleet/hosts.hpp"
#include "supervisor/ctl/fleet/show.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"
#include "supervisor/decide/view/view_rows.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::ctl {
namespace {

struct StatusRequest {
  Names names;
  std::string hosts;  // a file; empty: one daemon
};

constexpr std::size_t longest_file = 1 << 20;

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

// Those asked for by a name that the configuration has no more.
void add_removed(const Context& context, const Names& names, json::array& rows) {
  for (const std::string& word : names) {
    const std::string name = plain_name(word);
    if (name == "all" || views::row_named(rows, name) != nullptr) continue;
    const auto more = as_array(
        ask(context, programs_with(name), [&](const store::Store& store) -> Result<json::value> {
          return store.status_json(Time{store.newest_ms().value_or(0), 0}, name);
        }));
    if (!more) continue;
    const json::object* row = views::row_named(*more, name);
    if (row != nullptr && int_or(*row, "attempts", 0) > 0) rows.emplace_back(*row);
  }
}

int show_status(const Context& context, const Names& names) {
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
  add_removed(context, names, *rows);
  json::array shown;
  std::string unknown;
  if (names.empty()) {
    shown = *rows;
  } else {
    Names known;
    for (const json::value& row : *rows) known.push_back(string_or(row.get_object(), "name", ""));
    for (const std::string& name : meant_by(names, known)) {
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
    std::vector<StatusLine> lines;
    for (const json::value& row : shown) lines.push_back(status_line(row.get_object(), context));
    context.terminal.out << text_of(lines, context.style()) << unknown;
    // Not the programs' trouble: the exit code stays, and one program's status does not have it.
    if (from_daemon && names.empty()) {
      const auto document = as_object(call(context, Method::get, "/v1/deliveries"));
      if (document) context.terminal.out << deliveries_text(*document, context);
    }
  }
  const int code = exit_code_of(shown, context.terminal.now.wall.ms);
  return code == exit_status::ok && !unknown.empty() ? exit_status::unreachable : code;
}

int show_many(const Context& context, const StatusRequest& request) {
  const auto text = read_file(request.hosts, longest_file);
  if (!text) return finish(context, {exit_status::usage, text.error()});
  const auto hosts = fleet::read_hosts(*text, request.hosts);
  if (!hosts) return finish(context, {exit_status::usage, hosts.error()});
  return fleet::show(context, fleet::ask_all(*hosts), request.names);
}

int status(const Context& context, const StatusRequest& request) {
  return request.hosts.empty() ? show_status(context, request.names) : show_many(context, request);
}

}  // namespace

void add_status(Cli& cli) {
  auto& request = cli.keep<StatusRequest>();
  const Verb verb = cli.verb("status", "state of every program, or of those named");
  verb.option("NAME", request.names);
  verb.option("--hosts", request.hosts, "of many machines: a file with an address a line");
  cli.on(verb, request, status, [&] {
    const bool both = !request.hosts.empty() && !cli.settings.is_here();
    return both ? "--hosts: does not go with --host" : "";
  });
}

}  // namespace trainward::ctl
