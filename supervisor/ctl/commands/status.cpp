// status: supervisorctl's lines, one per program, no title; below it what keeps the daemon from
// looking after the program as it should.
#include <algorithm>
#include <cstdint>
#include <string>

#include "common/base/text.hpp"
#include "supervisor/core/shown.hpp"
#include "supervisor/ctl/cli.hpp"
#include "supervisor/ctl/program_names.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/table.hpp"
#include "supervisor/ctl/words.hpp"
#include "supervisor/store/store.hpp"
#include "supervisor/view/deliveries.hpp"

namespace trainward::ctl {
namespace {

// Of a program that is down: since when, and why.
std::string down_text(const json::object& row, const std::string& reason, const Context& context) {
  const std::int64_t changed_ms = int_or(row, "changed_ms", 0);
  const std::int64_t now_ms = context.terminal.now.wall.ms;
  if (changed_ms <= 0) return reason;
  const std::string since =
      fmt::format("since {}, {}", short_time_text(changed_ms, now_ms, context.settings.utc),
                  age(now_ms - changed_ms));
  return reason.empty() ? since : since + ": " + reason;
}

std::string detail_of(const json::object& row, const std::string& state, const Context& context) {
  const std::int64_t attempts = int_or(row, "attempts", 0);
  const std::string reason = clean(string_or(row, "reason", ""));
  if (state != "RUNNING") {
    if (attempts == 0 && (reason.empty() || reason == "Not started")) return "Not started";
    const bool down = core::facts(core::shown_from(state)).down;
    return down ? down_text(row, reason, context) : reason;
  }
  std::string text = fmt::format("pid {}, uptime {}", int_or(row, "pid", 0),
                                 clock_duration(int_or(row, "uptime_ms", 0)));
  const std::int64_t step = int_or(row, "last_step", 0);
  if (step > 0) {
    text += fmt::format(", step {}", step);
    if (const std::int64_t target = int_or(row, "target_step", 0); target > 0) {
      text += fmt::format("/{}", target);
    }
  }
  if (auto loss = get_number(row, "loss")) {
    text += fmt::format(", loss {}", number_text(*loss));
  } else if (step > 0) {
    text += ", loss -";
  }
  if (auto loss = get_number(row, "evaluation_loss")) {
    text += fmt::format(", held out {} at step {}", number_text(*loss),
                        int_or(row, "evaluated_step", 0));
  }
  if (attempts > 1) text += fmt::format(", attempt {}", int_or(row, "attempt", attempts));
  return text;
}

std::string format_status(const json::array& rows, const Context& context) {
  const Style style = context.style();
  std::size_t name_width = 33;
  std::size_t state_width = 10;
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    name_width = std::max(name_width, clean(string_or(row, "name", "-")).size() + 3);
    state_width = std::max(state_width, clean(string_or(row, "state", "UNKNOWN")).size() + 2);
  }
  std::string text;
  for (const json::value& value : rows) {
    if (!value.is_object()) continue;
    const json::object& row = value.get_object();
    const std::string state = clean(string_or(row, "state", "UNKNOWN"));
    text += fmt::format("{:<{}}", clean(string_or(row, "name", "-")), name_width);
    text += coloured(fmt::format("{:<{}}", state, state_width), colour_of(state), style);
    text += detail_of(row, state, context);
    text += '\n';
    if (const std::string trouble = clean(string_or(row, "trouble", "")); !trouble.empty()) {
      text += coloured("  !! " + trouble, Colour::red, style) + '\n';
    }
  }
  return text;
}

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

// Below the table: what of the messages and uploads fails or moves. Their trouble is none of the
// programs', so neither the exit code nor what is asked of one program changes.
void print_deliveries(const Context& context) {
  const auto document = as_object(call(context, Method::get, "/v1/deliveries"));
  if (!document) return;
  const std::int64_t now_ms = context.terminal.now.wall.ms;
  for (const views::DeliveryLine& line : views::delivery_lines(*document, now_ms)) {
    const std::string text = clean(line.text);
    context.terminal.out << (line.is_trouble ? coloured("!! " + text, Colour::red, context.style())
                                             : text)
                         << '\n';
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
    context.terminal.out << format_status(shown, context) << unknown;
    if (from_daemon && names.empty()) print_deliveries(context);
  }
  for (const json::value& row : shown) {
    if (core::facts(core::shown_from(string_or(row.get_object(), "state", ""))).down) {
      return exit_status::not_all_running;
    }
  }
  return unknown.empty() ? exit_status::ok : exit_status::unreachable;
}

}  // namespace

void add_status(Cli& cli) {
  auto& names = cli.keep<Names>();
  const Verb verb = cli.verb("status", "state of every program, or of those named");
  verb.option("NAME", names);
  cli.on(verb, names, show_status);
}

}  // namespace trainward::ctl
