// top: one screen that stays, of every program, and of one of them all there is to see; where no
// terminal is, what it would show, once.
#include <cstdlib>

#include "common/os/clock.hpp"
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/source.hpp"
#include "supervisor/ctl/live/gatherer.hpp"
#include "supervisor/ctl/live/live_loop.hpp"
#include "supervisor/ctl/live/time_text.hpp"
#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/top/paint.hpp"
#include "supervisor/ctl/top/top_view.hpp"
#include "supervisor/decide/view/view_rows.hpp"

namespace trainward::ctl {
namespace {

struct TopRequest {
  std::string program;  // empty: the first that needs somebody, or the first there is
  bool once = false;
};

// Of a frame that goes to no terminal. As many rows as the panes have a use for.
constexpr top::Size plain_size{100, 45};

json::object json_of(const top::Documents& documents) {
  json::object ledgers;
  for (const auto& [window, ledger] : documents.ledgers) ledgers[window] = ledger;
  json::array lines;
  for (const std::string& line : documents.log.lines) lines.emplace_back(line);
  return {{"programs", documents.programs},
          {"selected", documents.selected},
          {"curve", documents.curve},
          {"ledgers", std::move(ledgers)},
          {"boards", documents.boards},
          {"events", documents.events},
          {"log",
           {{"stream", documents.log.stream},
            {"attempt", documents.log.attempt},
            {"lines", std::move(lines)}}}};
}

// What every frame needs: somebody who answers, and the program that is asked for.
Answer<top::Documents> first_look(const Context& context, const std::string& program) {
  live::Gatherer gatherer(context, !context.terminal.utf8);
  top::Ui ui;
  ui.size = plain_size;
  ui.selected = program;
  top::Documents documents = gatherer.look(top::interest_of(ui), context.terminal.now);
  if (documents.origin == top::Origin::nothing) {
    return tl::unexpected<Failure>(
        {exit_status::unreachable,
         {ErrorKind::permanent, documents.trouble, context.settings.server(), ""}});
  }
  if (!program.empty() && views::row_named(documents.programs, program) == nullptr) {
    return tl::unexpected<Failure>(
        {exit_status::failed,
         {ErrorKind::usage, "no such program: " + program, "", "trainwardctl status lists them"}});
  }
  return documents;
}

int show_once(const Context& context, const TopRequest& request) {
  const auto documents = first_look(context, request.program);
  if (!documents) return finish(context, documents.error());
  if (documents->origin == top::Origin::database) {
    context.terminal.err << clean(documents->trouble) << '\n';
  }
  if (context.settings.json) {
    context.print_json(json_of(*documents));
    return exit_status::ok;
  }
  top::Ui ui;
  ui.size = plain_size;
  if (context.terminal.width > 0) ui.size.width = context.terminal.width;
  ui.ascii = !context.terminal.utf8;
  ui.plain = true;
  ui.selected = documents->selected;
  top::take(ui, top::snapshot_of(*documents,
                                 live::time_text_of(documents->now_ms, context.settings.utc)));
  context.terminal.out << top::text_of(top::draw(ui), ui.ascii);
  return exit_status::ok;
}

int show_top(const Context& context, const TopRequest& request) {
  const bool screen = context.terminal.in != nullptr && context.terminal.in_is_terminal;
  if (!screen || request.once || context.settings.json) return show_once(context, request);
  // What is wrong from the start is said on the terminal as it is.
  if (const auto documents = first_look(context, request.program); !documents) {
    return finish(context, documents.error());
  }
  return live::run_screen(context,
                          {request.program, context.terminal.colour, !context.terminal.utf8});
}

}  // namespace

void add_top(Cli& cli) {
  auto& request = cli.keep<TopRequest>();
  const Verb verb = cli.verb("top", "one live screen: sentences, curve, time, boards, events, log");
  verb.option("NAME", request.program,
              "whose curve, time, events and log (the first that needs you)");
  verb.flag("--once", request.once, "print it once, as without a terminal");
  verb.option_read_by(
      "--hosts",
      [](const std::string& file) {
        return "top shows one machine: trainwardctl --host ssh://HOST top; for all of them: watch "
               "trainwardctl status --hosts " +
               file;
      },
      "only of status");
  cli.on(verb, request, show_top);
}

}  // namespace trainward::ctl
