// start, stop, restart: one request for all programs, or one for each that was named, side by side
// and answered in the order asked.
#include <algorithm>
#include <future>

#include "supervisor/ctl/cli.hpp"
#include "supervisor/ctl/source.hpp"
#include "supervisor/ctl/words.hpp"

namespace trainward::ctl {
namespace {

constexpr std::size_t most_at_once = 32;

struct Outcome {
  std::string program;
  std::string text;     // "started", "ERROR (already started)"
  std::string message;  // more than the word, for stderr
  bool ok = false;
  int exit_code = exit_status::ok;
  std::optional<bool> stopped = {};  // of a restart: it was running before
};

Outcome stopped(const Outcome& outcome) {
  return {outcome.program, "stopped", "", true, exit_status::ok};
}
Outcome not_running(const Outcome& outcome) {
  return {outcome.program, "ERROR (not running)", "", false, exit_status::ok};
}

// Asking for what is already so is no failure, as supervisorctl has it.
int exit_code_of(const std::string& result) {
  if (result == "already started" || result == "not running") return exit_status::ok;
  if (result == "no such process" || result == "bad name") return exit_status::failed;
  return exit_status::not_running;
}

Outcome outcome_of(const json::object& answer) {
  const std::string result = string_or(answer, "result", "");
  const std::string message = string_or(answer, "message", "");
  Outcome outcome{string_or(answer, "program", ""), result, "", true, exit_status::ok};
  if (answer.contains("stopped")) outcome.stopped = bool_or(answer, "stopped", false);
  if (bool_or(answer, "ok", false)) return outcome;
  outcome.text = "ERROR (" + result + ")";
  outcome.message = message == result ? "" : message;
  outcome.ok = false;
  outcome.exit_code = exit_code_of(result);
  return outcome;
}

Outcome one(const Context& context, const std::string& verb, const std::string& name) {
  auto reply = Client(context.settings.socket_path())
                   .document(Method::post, "/v1/programs/" + percent_encoded(name) + "/" + verb,
                             long_deadline);
  if (!reply) {
    if (reply.error().status == 404 && reply.error().trouble == Trouble::answered) {
      return {name, "ERROR (no such process)", "", false, exit_status::failed};
    }
    const Failure failure = failure_of(reply.error());
    return {name, "ERROR (" + failure.error.what + ")", failure.error.hint, false,
            failure.exit_code};
  }
  if (!reply->is_object()) {
    return {name, "ERROR (trainwardd's answer is not an object)", "", false,
            exit_status::other_version};
  }
  Outcome outcome = outcome_of(reply->get_object());
  outcome.program = name;
  return outcome;
}

// Stops may each take minutes, so they run side by side.
std::vector<Outcome> each(const Context& context, const std::string& verb, const Names& names) {
  std::vector<Outcome> outcomes;
  for (std::size_t begin = 0; begin < names.size(); begin += most_at_once) {
    std::vector<std::future<Outcome>> pending;
    for (std::size_t i = begin; i < std::min(begin + most_at_once, names.size()); ++i) {
      pending.push_back(std::async(std::launch::async,
                                   [&, name = names[i]] { return one(context, verb, name); }));
    }
    for (std::future<Outcome>& outcome : pending) outcomes.push_back(outcome.get());
  }
  return outcomes;
}

// In one request: the daemon commits a hundred wishes at once.
Answer<std::vector<Outcome>> all(const Context& context, const std::string& verb) {
  auto rows = as_array(call(context, Method::post, "/v1/programs/" + verb, long_deadline));
  if (!rows) return tl::unexpected<Failure>(std::move(rows.error()));
  std::vector<Outcome> outcomes;
  for (const json::value& row : *rows) outcomes.push_back(outcome_of(row.get_object()));
  return outcomes;
}

void print_outcomes(const Context& context, const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    context.terminal.out << clean(outcome.program) << ": " << clean(outcome.text) << '\n';
    if (!outcome.message.empty()) {
      context.terminal.err << clean(outcome.program) << ": " << clean(outcome.message) << '\n';
    }
  }
  context.terminal.out.flush();
}

json::object row(const Outcome& outcome, std::string_view action) {
  return {{"program", outcome.program},
          {"action", action},
          {"ok", outcome.ok},
          {"result", outcome.text},
          {"message", outcome.message}};
}

int control(const Context& context, const std::string& verb, const Names& asked) {
  const bool everything = std::find(asked.begin(), asked.end(), "all") != asked.end();
  if (!everything) {
    // Without a daemon one line is enough, not one for each program.
    if (auto reachable = call(context, Method::get, "/v1/version"); !reachable) {
      return finish(context, reachable.error());
    }
  }
  auto outcomes = everything ? all(context, verb) : each(context, verb, asked);
  if (!outcomes) return finish(context, outcomes.error());
  // A restart is one wish, on record before anything ends: told in the two words that people know.
  std::vector<Outcome> stops;
  if (verb == "restart") {
    for (const Outcome& outcome : *outcomes) {
      if (outcome.stopped)
        stops.push_back(*outcome.stopped ? stopped(outcome) : not_running(outcome));
    }
  }
  int exit_code = exit_status::ok;
  json::array document;
  for (const Outcome& outcome : stops) document.push_back(row(outcome, "stop"));
  for (const Outcome& outcome : *outcomes) {
    document.push_back(row(outcome, verb == "restart" ? "start" : verb));
    exit_code = std::max(exit_code, outcome.exit_code);
  }
  if (context.settings.json) {
    context.print_json(document);
  } else {
    print_outcomes(context, stops);
    print_outcomes(context, *outcomes);
  }
  return exit_code;
}

}  // namespace

void add_control(Cli& cli) {
  auto& names = cli.keep<Names>();
  const auto add = [&](const char* word, const char* help) {
    const Verb verb = cli.verb(word, help);
    verb.option("NAME", names, "program names, or all").required();
    cli.on(verb, [&names, word](const Context& context) { return control(context, word, names); });
  };
  add("start", "start programs");
  add("stop", "stop programs: they save and exit");
  add("restart", "stop, then start; the configuration is not read again");
}

}  // namespace trainward::ctl
