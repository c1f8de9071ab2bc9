// clear: empties the logs of a program's attempts that are over.
#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/outcome.hpp"
#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl {
namespace {

int clear(const Context& context, const Names& asked) {
  const auto names = meant_by(context, asked);
  if (!names) return finish(context, names.error());
  const auto outcomes = ask_each(context, "clear", *names);
  const int exit_code = print_outcomes(context, outcomes, "clear");
  if (!outcomes || context.settings.json) return exit_code;
  for (const Outcome& outcome : *outcomes) {
    if (!outcome.ok || outcome.message.empty()) continue;
    context.terminal.err << clean(outcome.program) << ": " << clean(outcome.message) << '\n';
  }
  return exit_code;
}

}  // namespace

void add_clear(Cli& cli) {
  auto& names = cli.keep<Names>();
  const Verb verb = cli.verb("clear", "empty the logs of attempts that are over");
  verb.option("NAME", names, "program names, globs, or all").required();
  cli.on(verb, names, clear);
}

}  // namespace trainward::ctl
