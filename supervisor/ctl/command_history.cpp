// What happened: history, why, report, events.
#include "supervisor/ctl/commands.hpp"
#include "supervisor/ctl/format.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/words.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::ctl {
namespace {

Style style_of(const Context& context) { return {context.terminal.colour, context.terminal.width}; }

std::string target_of(const std::string& program, std::string_view document) {
  return program.empty() ? fmt::format("/v1/{}", document)
                         : fmt::format("/v1/programs/{}/{}", percent_encoded(program), document);
}

// A list may be empty because nothing happened, or because the name is wrong.
Result<json::value> checked(const store::Store& store, const std::string& program,
                            Result<json::array> rows) {
  if (!rows) return propagate(rows);
  if (rows->empty() && !program.empty()) {
    auto found = store.program(program);
    if (found && !*found) {
      return fail(ErrorKind::usage, fmt::format("no such program: {}", program), "",
                  "trainwardctl status lists them");
    }
  }
  return json::value(std::move(*rows));
}

int print_list(const Context& context, const Answer<json::array>& rows, const std::string& text,
               std::string_view nothing) {
  if (context.settings.json) {
    context.print_json(*rows);
  } else if (rows->empty()) {
    context.terminal.out << nothing << '\n';
  } else {
    context.terminal.out << text;
  }
  return exit_status::ok;
}

}  // namespace

int history(const Context& context, const std::string& program) {
  const auto rows =
      as_array(ask(context, target_of(program, "history"), [&](const store::Store& store) {
        return checked(store, program, store.history_json(program));
      }));
  if (!rows) return finish(context, rows.error());
  return print_list(context, rows,
                    format_history(*rows, context.terminal.now.wall_ms, style_of(context)),
                    "No attempts yet");
}

int events(const Context& context, const std::string& program, int limit) {
  auto rows = as_array(
      ask(context, target_of(program, "events") + "?after=-1", [&](const store::Store& store) {
        return checked(store, program, store.events_json(program, -1, limit));
      }));
  if (!rows) return finish(context, rows.error());
  const auto wanted = static_cast<std::size_t>(limit);
  if (rows->size() > wanted) rows->erase(rows->begin(), rows->end() - limit);
  return print_list(context, rows, format_events(*rows, style_of(context)), "No events yet");
}

int why(const Context& context, const std::string& program, std::optional<std::int64_t> attempt) {
  std::string target = target_of(program, "why");
  if (attempt) target += fmt::format("?attempt={}", *attempt);
  const auto document =
      as_object(ask(context, target, [&](const store::Store& store) -> Result<json::value> {
        return store.why_json(program, attempt);
      }));
  if (!document) return finish(context, document.error());
  if (context.settings.json) {
    context.print_json(*document);
  } else {
    context.terminal.out << format_why(*document, context.terminal.now.wall_ms, style_of(context));
  }
  return exit_status::ok;
}

int report(const Context& context, const std::string& program) {
  const auto document = as_object(ask(context, target_of(program, "report"),
                                      [&](const store::Store& store) -> Result<json::value> {
                                        return store.report_json(program);
                                      }));
  if (!document) return finish(context, document.error());
  if (context.settings.json) {
    context.print_json(*document);
  } else {
    context.terminal.out << format_report(*document, style_of(context));
  }
  return exit_status::ok;
}

}  // namespace trainward::ctl
