// start, stop, restart: one request for all programs, or one for each that was named, side by side
// and answered in the order asked.
#include <algorithm>

#include "supervisor/ctl/base/cli.hpp"
#include "supervisor/ctl/client/program_names.hpp"
#include "supervisor/ctl/outcome.hpp"

namespace trainward::ctl {
namespace {

// In one request: the daemon commits a hundred wishes at once.
Answer<std::vector<Outcome>> ask_all(const Context& context, const std::string& verb) {
  auto rows = as_array(call(context, Method::post, "/v1/programs/" + verb, long_deadline));
  if (!rows) return tl::unexpected<Failure>(std::move(rows.error()));
  std::vector<Outcome> outcomes;
  for (const json::value& row : *rows) outcomes.push_back(outcome_of(row.get_object()));
  return outcomes;
}

Answer<std::vector<Outcome>> ask_those(const Context& context, const std::string& verb,
                                       const Names& asked) {
  if (std::find(asked.begin(), asked.end(), "all") != asked.end()) return ask_all(context, verb);
  const auto names = meant_by(context, asked);
  if (!names) return tl::unexpected<Failure>(names.error());
  return ask_each(context, verb, *names);
}

// A restart is one wish, on record before anything ends: told in the two words that people know.
std::vector<Outcome> stops_of(const std::vector<Outcome>& restarts) {
  std::vector<Outcome> stops;
  for (const Outcome& outcome : restarts) {
    if (!outcome.stopped) continue;
    const bool was_running = *outcome.stopped;
    stops.push_back({outcome.program, was_running ? "stopped" : "ERROR (not running)", "",
                     was_running, exit_status::ok});
  }
  return stops;
}

// What a run has saved is left behind by name only.
int start_from_scratch(const Context& context, const Names& asked) {
  if (std::find(asked.begin(), asked.end(), "all") != asked.end()) {
    return print_outcomes(
        context,
        tl::unexpected<Failure>({exit_status::usage,
                                 {ErrorKind::usage, "--from-scratch takes the names of programs",
                                  "", "name each one whose run is to begin at step 0"}}),
        "start");
  }
  const auto names = meant_by(context, asked);
  if (!names) return print_outcomes(context, tl::unexpected<Failure>(names.error()), "start");
  return print_outcomes(context, ask_each(context, "start?from_scratch=1", *names), "start");
}

int control(const Context& context, const std::string& verb, const Names& asked) {
  auto outcomes = ask_those(context, verb, asked);
  if (!outcomes || verb != "restart") return print_outcomes(context, outcomes, verb);
  const std::vector<Outcome> stops = stops_of(*outcomes);
  if (!context.settings.json) {
    print_outcomes(context, stops);
    return print_outcomes(context, outcomes, "start");
  }
  int exit_code = exit_status::ok;
  json::array document;
  for (const Outcome& outcome : stops) document.push_back(row_of(outcome, "stop"));
  for (const Outcome& outcome : *outcomes) {
    document.push_back(row_of(outcome, "start"));
    exit_code = std::max(exit_code, outcome.exit_code);
  }
  context.print_json(document);
  return exit_code;
}

}  // namespace

void add_control(Cli& cli) {
  auto& names = cli.keep<Names>();
  const auto add = [&](const char* word, const char* help) {
    const Verb verb = cli.verb(word, help);
    verb.option("NAME", names, "program names, globs, or all").required();
    cli.on(verb, [&names, word](const Context& context) { return control(context, word, names); });
  };
  auto& from_scratch = cli.keep<bool>();
  const Verb start = cli.verb("start", "start programs");
  start.option("NAME", names, "program names, globs, or all").required();
  start.flag("--from-scratch", from_scratch,
             "begin at step 0: what was saved so far is not gone on from (our own worker's "
             "checkpoints are set aside, a command's stay where they are)");
  cli.on(start, [&names, &from_scratch](const Context& context) {
    return from_scratch ? start_from_scratch(context, names) : control(context, "start", names);
  });
  add("stop", "stop programs: they save and exit");
  add("restart", "stop, then start; the configuration is not read again");
}

}  // namespace trainward::ctl
